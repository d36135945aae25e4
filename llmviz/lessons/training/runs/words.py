"""What the chapter on starting runs says."""

TITLE = "Train one yourself"
TEXT = (
    "Take a starting point, press start, and watch three curves: the loss on the texts that it "
    "learns from, the loss on texts that it never learns from, and the length of the gradient at "
    "each update."
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
        "A GPT with two layers reads 7,200 names and learns to write more of them. Its first "
        "samples are noise; look at them again every fifty steps."
    ),
    "stories": (
        "The same kind of model reads a megabyte of tiny-world, one letter at a time. First come "
        "spaces and frequent letters, then words, then sentences that almost make sense."
    ),
    "bigram": (
        "A table that says how probable each letter is after each letter. On the texts that were "
        "counted, no training can bring it below the line of pair counts, because it looks at "
        "nothing else."
    ),
    "memory": (
        "A recurrent network with gates carries one vector from letter to letter. Compare its "
        "curve with the GPT's in the next chapter."
    ),
    "words": (
        "First a [[BPE]] tokenizer of 512 tokens is learned from the text, then a GPT on its "
        "tokens. Losses per token cannot be compared between tokenizers; bits per byte can."
    ),
    "vectors": (
        "[[word2vec]] continues no text. It learns a vector for each word by telling words "
        "that stood near it from words drawn at random. Its loss is counted per pair of words, "
        "and its vectors can be looked at in the lesson on embeddings."
    ),
    "mine": (
        "A GPT on a text of your own. With little to read it soon knows it by heart: watch where "
        "the validation loss stops falling while the training loss goes on."
    ),
}
SETTINGS = "All settings"
GROUPS = {
    "text": "What it reads",
    "model": "The model",
    "training": "How it learns",
    "way": "What is noted on the way",
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
CORPUS_HELP = "The texts it learns from. A tenth of them is held out for validation."
MODEL_HELP = (
    "From a table of pairs to the transformer; then one that translates and one that makes vectors "
    "of words. What suits a model, its tokenizer and learning rate, is set with it."
)
TOKENIZER_HELP = (
    "char, word and bpe are learned from the corpus itself; the others are those of OpenAI's "
    "models. Their vocabularies are so large that in a small model most parameters are in its "
    "table of tokens."
)
RANGE = "From {low} to {high}."
OWN_TEXT = "Your text"
UPLOAD = "A text file, UTF-8, up to 5 million characters"
UPLOADED = "Read: {name}, {size} characters. A link cannot carry a file."
NO_TEXT = "This file is no UTF-8 text: byte {place} makes no character."
NO_MEMORY = (
    "such a run needs about {needs} of memory, and {free} are free here; make the model, the "
    "batch or the context smaller"
)
COST = (
    "**{parameters} parameters** over {vocabulary}, {tokens} tokens a step{epochs}. About {memory} "
    "of memory beside Python and torch, {disk} on the disk. {time}"
)
EPOCHS = ", the text {least}{times} times over"
EPOCHS_LEAST = "at least "  # a token holds one character or more
TIME = "**About {time}** ({basis})."
TIME_BASIS = "{each} a step, measured here a moment ago"
TIME_MEASURED = "How long it takes is being measured …"
TIME_RECKONED = (
    "estimated from the speed of a {model} here, because another run has the process; the time "
    "that this one waits is not counted"
)
TIME_BUSY = (
    "How long it takes is not known yet: another run has the process, and no {model} was timed "
    "here before."
)
LOADING = "The settings are loading …"
ENGINE_FAILED = "The settings cannot be shown: {problem}"
TOO_SLOW = "torch did not load within a minute"

START = "Start"
FREE = "The machine is free; at most {limit} may train at a time, others wait."
BUSY = "{training} of at most {limit} in training on this machine."
QUEUE = "{waiting} in the queue."
SHOW = "Run"
SHOW_HELP = (
    "Yours first, then kept ones, then those that come with the project. To attach to a run that "
    "the command line writes, type the name of its folder below {root}."
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
    "lost": "cut off",
}
PLACE = "waiting with {before} before it, {waiting} in the queue"
KEPT = ", kept"
ELSEWHERE = "being written by another process"
AT_REST = "at rest"
PREPARING = "no step yet"
PROGRESS = "step {last} of {steps}"
RATE = " · {rate} {unit}s a second"
LEFT = " · {time} left"
PAUSE = "Pause"
STOP = "Stop"
GO_ON = "Go on"
DELETE = "Delete"
KEEP = "Keep"
KEEP_TEXT = (
    "A run ends with your visit. A kept one stays in {root}, for every visitor and for the command "
    "line, and goes on if it is still training."
)
KEEP_NAME = "Name"
KEEP_BUTTON = "Keep it"
BUNDLED = (
    "{name} comes with the project and was trained by the same code. Until you start one of your "
    "own, its curve stands here."
)
WATCHING = "This run belongs to another window; here you can watch it."
TOLD = (
    "{name} made {steps} and saw {tokens} in {time}. Its validation loss ended at **{loss:.3f} "
    "[[nats]]** on texts that it never learned from: a [[perplexity]] of {perplexity:.1f}, as if "
    "each token were one of {perplexity:.1f} equally likely ones."
)


TOLD_PAIRS = (
    "{name} made {steps} and saw {pairs} of words in {time}. Its validation loss ended at "
    "**{loss:.3f} [[nats]]** a pair. A model that knows nothing answers ½ for each neighbour "
    "and for its {negatives}: that costs {questions} × ln 2 = {blind:.3f}."
)


def model_label(name: str) -> str:
    """A model's name with one word on it."""
    return f"{name}: {MODELS[name]}"


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
