"""What the chapter on curves says."""

TITLE = "What a curve says"
TEXT = (
    "Every update leaves a point: the [[cross-entropy]] of the batch it learned from. Now and then "
    "the model is asked about texts that it never learns from: the validation loss, the one that "
    "counts. A number alone says little, so the chart draws what it is held against."
)
RUNS = "Runs"
RUNS_HELP = "The first one is what the scrubber goes through and the lines belong to."
NOTHING = "No run is chosen that has a point yet."
CSV = "All runs as CSV"

LINES = (
    "{name} reached **{loss} [[nats]]** on held-out texts. Guessing among all {vocabulary} "
    "tokens alike costs ln V = {uniform}; knowing how frequent each is, {unigram}; knowing what "
    "follows each, {bigram}. Both counts were taken on {tokens} tokens of {corpus}."
)
BELOW = (
    "What lies below the line of pairs, {gap} nats, the model can only have from further back "
    "than one token."
)
NOT_BELOW = (
    "It stands {gap} nats from the line of pairs: so far, one token back is about all that it uses."
)
FLOOR = (
    "And no model can beat **{floor}** in expectation: the grammar that wrote tiny-world knows the "
    "probability of every text, here of {documents} held-out ones. The run is {above} above it."
)
ASK = (
    "When does the validation loss of {name} first fall below {line}, what pairs of tokens alone "
    "can reach?"
)
ASK_ANSWERS = ("In the first quarter of its steps", "Later than that", "Not clearly, or never")
ASK_FIRST = "At step {step} it was measured below {line} for the first time."
ASK_NEVER = "Its best was {best}, which is not clearly below {line}."
ASK_WRONG = "Zoom in on where the rings cross the dashed line of pair counts."

CHECKPOINT = "The model of step {found}, the checkpoint nearest to step {step}, in:"
BUNDLED_WEIGHTS = "Of the models that come with the project only the last step was kept. See it in:"
NO_CHECKPOINT = "No checkpoint is there yet; the model can be looked at once there is one."
PLACES = {"sampling": "Sampling", "attention": "Attention", "embeddings": "Embeddings"}
FORK = "Fork here"
FORK_TITLE = "Fork at step {step}"
FORK_TEXT = (
    "Same weights, same data, same random numbers up to here; from here on, what you change."
)
FORK_END = "Fork at its end"
FORK_END_TEXT = (
    "Of this run only the last weights were kept, in numbers of 16 bits, and not what its "
    "optimizer remembered. A fork begins from them, with an optimizer that remembers nothing; from "
    "here on, what you change."
)
FORKED_FRESH = (
    "It began from the parent's last weights with an optimizer that remembered nothing, so its "
    "first steps are less sure than the parent's last."
)
PRACTISED = (
    "From there on most steps are exercises: they name people and things and ask who has what, and "
    "only the answers are scored. The training loss is then mostly that of answers, while the "
    "validation loss is still that of whole stories; the two cannot be compared."
)
FORK_FIELDS = ("learning_rate", "min_lr", "steps", "batch_size", "dropout", "weight_decay", "seed")
FORK_START = "Start the fork"
FORKED = "This run is a fork of {of} at step {step}. Changed: {changes}."
NO_CHANGE = "nothing"
