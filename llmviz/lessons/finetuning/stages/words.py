"""All that the chapter "The stages" says. Names in braces are filled in with live numbers."""

from llmviz.lessons.finetuning.example_story import QUESTION, STORY

TITLE = "How a helper is made"
TEXT = (
    "A chat model is not trained in one go. First it reads a great many texts and learns to "
    "continue them: that is [[pretraining]], and what comes out is called a [[base model]]. Then "
    "it is trained further, on far fewer examples of what it is wanted for: [[fine-tuning]]. Often "
    "a third training teaches it which of two answers people prefer. A small model of this app was "
    "made in this way, up to fine-tuning. The figures below are its own."
)
STAGES = {
    "data": ("1", "Data", "Texts, cut into tokens."),
    "pretraining": ("2", "Pretraining", "Read texts, predict each next token."),
    "tuning": ("3", "Fine-tuning", "Go on from there, on examples of a task."),
    "preferences": ("4", "Preferences", "Of two answers, make the better one more probable."),
    "use": ("5", "Use", "No weight changes any more."),
}
DATA = ("{documents} stories", "{tokens} tokens", "{bytes} MB of text")
PRETRAINING = (
    "{tokens} tokens read",
    "{steps} steps, {time}",
    "loss {loss} nats per token on new stories",
    "no model can get below {floor} on average",
)
TUNING = (
    "{tokens} tokens scored",
    "{steps} steps, {time}",
    "{right} of new questions answered right",
    "{trained} numbers trained, {parameters} frozen",
)
PREFERENCES = (
    "Pairs of answers, the better one named.",
    "No model of this stage is bundled.",
)
PREFERENCES_HERE = "The chapter on preferences trains one while you watch."
USE = (
    "{flops} million calculations for a token, with a full context before it",
    "{parameters} numbers, and none of them changes",
)
NOT_THERE = "There are no figures of this stage in this copy."
BARS = "tokens scored, powers of ten"
BARS_NAMES = {"pretraining": "pretraining", "instructions": "questions", "few-shot": "rules"}
BARS_TEXT = (
    "Pretraining was scored on **{share} times** as many tokens as the fine-tuning that teaches "
    "answering questions. In the fine-tuning only the tokens of each answer count, not those of "
    "the question. Some plain stories were mixed in, and all of their tokens count. The chapter on "
    "instructions shows both."
)

BEFORE_TITLE = "One prompt, before and after"
BEFORE_TEXT = (
    "The same prompt goes through three models of one shape. The first has the random weights that "
    "training begins from. The second has been pretrained. The third is the second one after "
    "fine-tuning on questions about stories. Each writes the most probable token again and again."
)
PROMPT = "Prompt"
EXAMPLES = "Examples of prompts"
PROMPTS = {
    "A question": f"{STORY}\nQuestion: {QUESTION}\nAnswer:",
    "A story": STORY.rsplit(". ", 1)[0] + ".",
    "An order": "Tell me a story about a dog.",
}
MODELS = {"random": "random weights", "base": "pretrained", "tuned": "fine-tuned on questions"}
NOTHING = "(nothing: it ends the text at once)"
ENDS = "It ends the text here."
STOPPED = "Stopped after {count} tokens."
CUT = (
    "Your prompt leaves too little room to write in the context. The models read its last {kept} "
    "tokens."
)
FIRST = (
    "Which token comes right after the prompt? Below are those that the two trained models "
    "together find most probable, and the probability that each of the three models gives them."
)
BEFORE_READING = (
    "The three models have the same code and the same number of weights. If they write different "
    "texts, the only reason is that the weights differ."
)

MOVES_TITLE = "What is frozen, what moves"
MOVES_TEXT = (
    "Say you want a model that sorts texts into classes. Its last matrix, the head, gives a score "
    "for each token of the vocabulary. It is exchanged for a small new one with a score for each "
    "class. Then there is a choice: which of the other numbers may training change? Every "
    "rectangle below is a part of the model, as large as its count of numbers."
)
WAY = "What is trained"
WAYS = {
    "head": "Head alone",
    "last": "Last block too",
    "lora": "LoRA",
    "all": "Everything",
    "nothing": "From nothing",
}
OUTPUTS = "Classes"
STATES = {
    "frozen": "frozen: keeps its trained value",
    "trained": "goes on from its trained value",
    "new": "new: begins without a trained value",
}
GROUPS = {"token": "embeddings", "position": "embeddings", "head": "new head"}
BLOCK = "block {number}"
NORM = "last norm"
WHOLE = "all numbers"
UNIT = "numbers"
COUNTS = (
    "{what} **{trained}** of **{all}** numbers may change: {share}. {new} of them begin without a "
    "trained value, {frozen} are frozen."
)
WHAT = {
    "head": (
        "This is [[transfer learning]] in its plainest form: all that was learned stays as it is, "
        "and only the new head learns."
    ),
    "last": (
        "This is **fine-tuning** of a part: the last block and the last norm go on learning, "
        "and what stands before them is frozen."
    ),
    "all": (
        "This is **full fine-tuning**: every number but those of the new head goes on from its "
        "trained value. Nothing is frozen, so everything can also be forgotten."
    ),
    "lora": (
        "This is fine-tuning with **LoRA**: all trained numbers are frozen. Beside each matrix of "
        "the blocks lies a small new change that is learned. A later chapter is about it."
    ),
    "nothing": (
        "This is **training from nothing**: no number begins with a trained value. All that these "
        "numbers will hold comes from the labelled texts."
    ),
}
WORDS_APART = (
    "The words are used loosely. *Transfer learning* is the idea as a whole: what was learned for "
    "one task is used for another. *Fine-tuning* is to train trained weights further, all or some "
    "of them. Two questions tell the ways apart: which numbers are frozen, and where do the others "
    "begin?"
)
QUESTION = (
    "A head for {classes} classes reads a vector of {width} numbers. How many numbers does "
    "training change if the head alone is trained?"
)
RIGHT = (
    "Each class has a weight for each of the {width} numbers and one bias: {classes} × ({width} + "
    "1) = {right}. All other {frozen} numbers are frozen."
)
WRONG = {
    "no_bias": (
        "These are the weights alone, {classes} × {width}. Each class also has a bias, so there "
        "are {classes} more."
    ),
    "one": (
        "That is one class: {width} weights and a bias. Each of the {classes} classes has its own."
    ),
    "old": (
        "That is the size of the head that was taken away: a row of {width} numbers for each of "
        "the {vocab} tokens."
    ),
}
SNIPPET = """
from llmviz.pretrained import load_bundled
from llmviz.study.parameter_states import STATES, count_of, parts_of

base, tokenizer, card = load_bundled({name!r})
parts = parts_of(base, {classes}, {way!r})
print({{state: count_of(parts, state) for state in STATES}})
"""
