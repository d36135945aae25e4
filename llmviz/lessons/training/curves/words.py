"""The texts of the chapter on curves."""

TITLE = "What a curve says"
TEXT = (
    "Each point is the loss of one or more batches that the model has just learned from. From time "
    "to time the loss is measured on texts that it never learns from. This is the validation loss: "
    "it tells how good the model is on new texts. The horizontal lines are known losses to compare "
    "it with."
)
RUNS = "Runs"
RUNS_HELP = "The slider and the horizontal lines belong to the first run."
NOTHING = "None of the chosen runs has a point yet. Choose another one, or wait."
CSV = "All runs as CSV"

LINES = (
    "{name} has a last validation loss of **{loss} [[nats]]**. With the same probability for all "
    "{vocabulary} tokens the loss is ln V = {uniform}. With the counted share of each token it is "
    "{unigram}, and with the counted shares after each token {bigram}. Both were counted on "
    "{tokens} tokens of {corpus}."
)
BELOW = (
    "That is {gap} nats below the line of pairs. So the model uses more than the last token, "
    "unless the held-out texts are easier than the counted ones."
)
NEAR = "That is within {near} nats of the line of pairs."
ABOVE = (
    "That is {gap} nats above the line of pairs. This does not say how far back the model looks. "
    "The line is the loss on the texts on which the pairs were counted. The model is measured on "
    "texts that it never saw."
)
COPIES = {  # what the loss of a model means that is shown what it has to predict
    "shift": (
        "These lines are no measure for this model: it was asked for the token that it had just "
        "read, so it only had to copy it."
    ),
    "mask": (
        "These lines are no measure for this model: its mask lets it see the token that it has to "
        "predict."
    ),
}
FLOOR = (
    "On average no model can have a loss below **{floor}**. The grammar that wrote tiny-world "
    "gives the exact probability of every text. Its loss was computed on {documents} held-out "
    "texts. The loss of the run is {apart}."
)
FLOOR_ABOVE, FLOOR_BELOW = "{share} above it", "{share} below it, on other held-out texts"
ASK = "When was a validation loss of {name} first below {line}, the line of pair counts?"
ASK_ANSWERS = ("In the first quarter of its steps", "Later than that", "Never")
ASK_FIRST = (
    "At step {step} of {last} a measured validation loss was below {line} for the first time."
)
ASK_NEVER = "Its lowest validation loss was {best}, which is not below {line}."
ASK_WRONG = "Compare the rings, the validation losses, with the line of pair counts."

CHECKPOINT = "Open the model of step {checkpoint}, the checkpoint nearest to step {step}, in:"
BUNDLED_WEIGHTS = "Models that come with the project have only their last step. Open it in:"
NO_CHECKPOINT = "There is no checkpoint yet. When there is one, you can open the model."
PLACES = {"sampling": "Sampling", "attention": "Attention", "embeddings": "Embeddings"}
FORK = "Fork here"
FORK_TITLE = "Fork at step {step}"
FORK_TEXT = (
    "Up to here the fork has the same weights, data and random numbers. From here on it has your "
    "changes."
)
FORK_END = "Fork at its end"
FORK_END_TEXT = (
    "Only the last weights of this run were kept, as numbers of 16 bits, without the memory of its "
    "optimizer. A fork begins with these weights and a new optimizer. From here on it has your "
    "changes."
)
FORKED_FRESH = (
    "It began with the last weights of the other run and with a new optimizer, so its loss may "
    "rise at first."
)
PRACTISED = (
    "From there on {share} of the steps are exercises. They name people and things and ask {what}. "
    "Only the answers count for the loss. The validation loss is still that of whole stories, so "
    "the two losses cannot be compared."
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
