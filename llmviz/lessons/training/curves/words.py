"""What the chapter on curves says."""

TITLE = "What a curve says"
TEXT = (
    "Every update leaves a point: the [[cross-entropy]] of the batch that it learned from. Now and "
    "then the loss is measured on texts that it never learns from: the validation loss, the one "
    "that counts. A number alone says little, so the chart has lines to compare it with."
)
RUNS = "Runs"
RUNS_HELP = "The slider and the dashed lines belong to the first one."
NOTHING = "No run is chosen that has a point yet."
CSV = "All runs as CSV"

LINES = (
    "{name} reached **{loss} [[nats]]** on held-out texts. Guessing among all {vocabulary} "
    "tokens alike costs ln V = {uniform}; knowing how frequent each is, {unigram}; knowing what "
    "follows each, {bigram}. Both counts were taken on {tokens} tokens of {corpus}."
)
BELOW = (
    "It is {gap} nats below the line of pairs. Unless the held-out texts are easier than the "
    "counted ones, the model uses more than the last token."
)
NEAR = "It is within {near} nats of the line of pairs."
ABOVE = (
    "It is {gap} nats above the line of pairs. That does not say how far back the model looks: the "
    "pairs were counted on the very texts that their line describes, and the model is measured on "
    "texts that it never saw."
)
FLOOR = (
    "And no model can beat **{floor}** in expectation: the grammar that wrote tiny-world knows the "
    "probability of every text, here of {documents} held-out ones. The run is {above} above it."
)
ASK = "When was the validation loss of {name} first measured below {line}, the line of pair counts?"
ASK_ANSWERS = ("In the first quarter of its steps", "Later than that", "Never")
ASK_FIRST = "At step {step} of {last} it was measured below {line} for the first time."
ASK_NEVER = "Its best was {best}, which is not below {line}."
ASK_WRONG = "Compare the rings, the validation losses, with the dashed line of pair counts."

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
    "From there on {share} of the steps are exercises: they name people and things and ask {what}, "
    "and only the answers are scored. The training loss is then partly that of answers, while the "
    "validation loss is still that of whole stories; the two cannot be compared."
)
PRACTISED_WHAT = {  # by the plan's `practice`
    "owners": "who has what",
    "details": "how big a thing is, which colour it has, who has it and where somebody is",
    "both": "who has what, how big it is, which colour it has and where somebody is",
}
FORK_FIELDS = ("learning_rate", "min_lr", "steps", "batch_size", "dropout", "weight_decay", "seed")
FORK_START = "Start the fork"
FORKED = "This run is a fork of {of} at step {step}. Changed: {changes}."
FORKED_BEFORE = "That one is a fork of {of} at step {step}. Changed: {changes}."
NO_CHANGE = "nothing"
