"""The words of the choice of tokens and models."""

CAT = "The cat sat"
JOURNEY = "Your journey starts with one step"
SOURCES = {"cat": "The cat sat", "journey": "Your journey …", "model": "Your text, real weights"}
SOURCE_LABEL = "Tokens from"
MATRIX_NAMES = {"x": "X", "wq": "W_Q", "wk": "W_K", "wv": "W_V", "wo": "W_O"}
JOURNEY_LABEL = "Words, in any order"
JOURNEY_COUNT = "This example takes 1 to {most} words; there are {count}."
JOURNEY_UNKNOWN = (
    "The word {word!r} has no vector in this example: a word-level table knows its own words and "
    "no others. It has {known}."
)
SHAPE = "{name} must be {rows}×{columns} here; it is {found}."
MODEL = "Model"
LAYER = "Layer"
HEAD = "Head"
NO_MODEL = (
    "The model {name} is not in this copy of the app, so this part has nothing to compute with. "
    "The other parts go on without it. This command makes it:"
)
NO_MODEL_COMMAND = "python -m llmviz checkpoints make {name}"
START = "⟨start⟩"
BYTES = "{bytes}, a piece of a character"
CUT_CONTEXT = (
    "Your text is {all:,} tokens long, the start token included. The context of {name} ends after "
    "token {limit:,}, {last}; what follows is left out."
)
CUT_DRAWN = (
    "The first {limit} of {all:,} tokens are drawn here, up to {last}; each matrix would grow "
    "beyond the page. The part “A trained model” takes them all."
)
UNKNOWN = "{count:,} of the tokens are unknown to this model's tokenizer and read as <|unk|>."
