"""The words of the prompt's box and the model behind it."""

PROMPT_LABEL = "Prompt"
MODEL = "Model"
USE_MY_TEXT = "Use my text"
USE_STORY = "Back to the story"
NO_MODEL = (
    "No trained model is bundled with this copy, so there are no logits to sample from. This "
    "command makes one (it takes some hours):"
)
NO_MODEL_COMMAND = "python -m llmviz checkpoints make tiny-world-gpt"
EMPTY = (
    "The prompt is empty, so the model starts from its start token <|endoftext|> alone and begins "
    "a new text."
)
PROMPT_CUT = "The prompt has {all:,} characters. Only its last {limit:,} are read."
SLID = (
    "The prompt is {tokens} long, but the context holds only {context}. So the model sees only the "
    "last {context}."
)
UNKNOWN = "The tokenizer does not know {unknown} of this prompt. The model reads <|unk|> instead."
