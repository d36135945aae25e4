"""The texts of the chapter on starting runs."""

from llmviz.models.catalogue import entry_of

TITLE = "Train one yourself"
TEXT = (
    "Choose a starting point, press start, and watch the curves. The training loss is measured on "
    "the texts that the model learns from, the validation loss on other texts. Below them are the "
    "learning rate and the length of the gradient at each update."
)
PRESET = "Starting point"
PRESETS = {
    "names": "Invent names",
    "stories": "Tell stories, letter by letter",
    "bigram": "Only pairs of letters",
    "memory": "A network with a memory",
    "words": "Stories in pieces of words",
    "vectors": "Vectors of words",
    "mine": "Your own text",
}
PRESET_TEXTS = {
    "names": (
        "A GPT with two layers reads 7,200 names and learns to write new ones. Its first samples "
        "are noise. There is a new sample every fifty steps."
    ),
    "stories": (
        "The same kind of model reads a megabyte of tiny-world, one character at a time. First it "
        "learns spaces and frequent letters, then words, then parts of sentences."
    ),
    "bigram": (
        "A table that says how probable each letter is after each letter. It looks at nothing "
        "else. So on the texts that were counted, its loss cannot go below the line of pair counts."
    ),
    "memory": (
        "A recurrent network with gates: it carries one vector from letter to letter. Compare its "
        "curve with that of the GPT in the next chapter."
    ),
    "words": (
        "First a [[BPE]] tokenizer of 512 tokens is learned from the text. Then a GPT is trained "
        "on its tokens. Losses per token cannot be compared between tokenizers; bits per byte can."
    ),
    "vectors": (
        "[[word2vec]] does not continue a text. It learns a vector for each word. The vectors must "
        "tell which words were near it in the text, and which were only drawn at random. Its loss "
        "is counted per pair of words. You can look at its vectors in the lesson on embeddings."
    ),
    "mine": (
        "A GPT on a text of your own. It can learn a short text by heart. Then the validation loss "
        "stops falling while the training loss goes on falling."
    ),
}
SETTINGS = "All settings"
GROUPS = {
    "text": "What it reads",
    "model": "The model",
    "training": "How it learns",
    "way": "What is recorded",
    "machine": "The machine",
}
LABELS = {
    "corpus": "Corpus",
    "tokenizer": "Tokenizer",
    "characters": "Size of tiny-world",
    "vocab_size": "Vocabulary",
    "context_length": "Context",
    "windows": "Windows",
    "fraction": "Held out",
    "exercises": "Exercises, as a share of the steps",
    "practice": "What they ask",
    "model": "Model",
    "n_layer": "Layers",
    "n_head": "Heads",
    "n_embd": "Width",
    "hidden_size": "Hidden width",
    "window": "Window",
    "dropout": "Dropout",
    "positions": "Positions",
    "norm": "Norms",
    "activation": "Activation",
    "batch_norm": "Batch norm",
    "negatives": "Random words",
    "steps": "Steps",
    "batch_size": "Batch",
    "accumulate": "Micro-batches",
    "recompute": "Inputs kept every",
    "learning_rate": "Learning rate",
    "min_lr": "Last learning rate",
    "warmup_steps": "Warm-up",
    "schedule": "Schedule",
    "schedule_start": "Start of the schedule",
    "optimizer": "Optimizer",
    "weight_decay": "Weight decay",
    "beta1": "β₁",
    "beta2": "β₂",
    "grad_clip": "Gradient clipping",
    "eval_every": "Validation every",
    "eval_batches": "Validation size",
    "sample_every": "A sample every",
    "sample_tokens": "Sample length",
    "snapshots": "Checkpoints",
    "seed": "Seed",
    "device": "Device",
    "dtype": "Precision",
    "threads": "Threads",
}
CORPORA = {"mine": "my text", "file": "a file of mine …"}
CORPUS_HELP = "The texts it learns from. A share of them, “Held out”, is kept for validation."
MODEL_HELP = (
    "From a table of pairs to transformers, models that translate, and one that makes vectors of "
    "words. A tokenizer and a learning rate that suit the model are chosen with it."
)
TOKENIZER_HELP = (
    "char, word and bpe are learned from the corpus. The others are those of OpenAI's models. "
    "Their vocabularies are so large that most parameters of a small model are in its token table."
)
RANGE = "From {low} to {high}."
OWN_TEXT = "Your text"
UPLOAD = "A text file, UTF-8, up to 5 million characters"
UPLOADED = "Read: {name}, {size} characters. A link cannot carry a file."
NO_TEXT = "This file is not valid UTF-8 text: byte {place} is not part of a character."
SUCH_A_RUN = "such a run"
COST = (
    "**{parameters} parameters**, a vocabulary of {vocabulary}, {tokens} tokens per step{epochs}. "
    "About {memory} of memory, besides Python and torch, and {disk} on the disk. {time}"
)
EPOCHS = ", the whole text {least}{times} times"
EPOCHS_LEAST = "at least "  # a token holds one character or more
TIME = "**About {time}** ({basis})."
TIME_BASIS = "{each} per step, measured here a moment ago"
TIME_MEASURED = "The time of a step is being measured …"
TIME_ESTIMATED = (
    "estimated from the speed of a {model} here, because another run uses the process now. The "
    "wait is not included"
)
TIME_BUSY = (
    "How long it takes is not known yet: another run uses the process, and no {model} was measured "
    "here before."
)

START = "Start"
FREE = "The machine is free. At most {limit} can train at a time; others wait."
BUSY = "{training} of at most {limit} now training on this machine."
QUEUE = "{waiting} in the queue."
SHOW = "Run"
SHOW_HELP = (
    "Your runs first, then kept ones, then those that come with the project. To watch a run that "
    "was started on the command line, type the name of its folder in {root}."
)
STATES = {
    "waiting": "waiting",
    "preparing": "preparing: reading the text, building the model",
    "training": "training",
    "stopping": "saving",
    "paused": "paused, saved",
    "stopped": "stopped, saved",
    "done": "done",
    "diverged": "diverged",
    "refused": "ended",
    "lost": "interrupted",
}
PLACE = "waiting: {before} before it, {waiting} in the queue"
KEPT = ", kept"
ELSEWHERE = "being trained by another process"
AT_REST = "not running"
PREPARING = "no step yet"
PROGRESS = "step {last} of {steps}"
RATE = " · {rate} {unit}s per second"
LEFT = " · {time} left"
PAUSE = "Pause"
STOP = "Stop"
GO_ON = "Go on"
DELETE = "Delete"
KEEP = "Keep"
KEEP_TEXT = (
    "A run is deleted when your visit ends. A kept run stays in {root}, for every visitor and for "
    "the command line. If it is still training, it goes on."
)
KEEP_NAME = "Name"
KEEP_BUTTON = "Keep it"
BUNDLED = (
    "{name} comes with the project and was trained by the same code. Its curve is shown until you "
    "start a run of your own."
)
WATCHING = "This run was started in another window. Here you can only watch it."
TOLD = (
    "{name} made {steps} and read {tokens} in {time}. Its last validation loss was **{loss:.3f} "
    "[[nats]]** per token, on texts that it never learned from. That is a [[perplexity]] of "
    "{perplexity:.1f}: as uncertain as between {perplexity:.1f} equally likely tokens."
)


TOLD_PAIRS = (
    "{name} made {steps} and read {pairs} of words in {time}. Its last validation loss was "
    "**{loss:.3f} [[nats]]** per pair. A model that knows nothing answers ½ for each neighbour and "
    "for its {negatives}. That is a loss of {questions} × ln 2 = {blind:.3f}."
)


def model_label(name: str) -> str:
    """A model's name with a few words on what it is; those of the catalogue where none are here."""
    return f"{name}: {MODELS.get(name) or entry_of(name).description}"


MODELS = {
    "bigram": "pairs only",
    "mlp": "a fixed window",
    "wavenet": "a tree of pairs",
    "rnn": "a memory",
    "gru": "a gated memory",
    "lstm": "a protected memory",
    "gpt": "a transformer",
    "bert": "a transformer that fills in hidden words, from both sides",
    "seq2seq": "translates (corpus pairs)",
    "seq2seq-rnn": "translates through one vector (corpus pairs)",
    "word2vec": "vectors of words",
}
