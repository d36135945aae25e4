"""The texts of the chapter on the race."""

TITLE = "Seven models, one list of names"
TEXT = (
    "From a table of letter pairs to a transformer: all models read the same 7,200 names in the "
    "same batches. They are measured on the same 800 names that none of them learned from. Every "
    "point is from the run that made the bundled model, on one thread of one processor."
)
MODELS = {
    "names-bigram": ("bigram", "a table: one letter back"),
    "names-mlp": ("MLP", "eight letters through one hidden layer"),
    "names-wavenet": ("WaveNet", "eight letters, combined pair by pair"),
    "names-rnn": ("RNN", "one vector carried from letter to letter"),
    "names-gru": ("GRU", "the same with gates"),
    "names-lstm": ("LSTM", "the same with a protected memory"),
    "names-gpt": ("GPT", "each letter looks back at all letters before it"),
}
WHO = "On the chart"
NONE_CHOSEN = "Choose at least one model."
MISSING = "These models are not in this copy of the app: {names}. `{command}` makes one."
AT = "What they had learned by step"
COLUMNS = {
    "model": "model",
    "what": "how it looks back",
    "parameters": "parameters",
    "seconds": "seconds",
    "validation": "validation loss, nats",
    "training": "training loss, nats",
    "writes": "it writes",
}
NOT_YET = "–"
END = (
    "At step {step:,} **{first}** has the lowest validation loss, {loss:.3f} nats per letter. "
    "{next} {last} has the highest loss, {worst:.3f}."
)
NEXT = "{second} is {gap:.3f} nats behind it."
NEXT_TIES = (
    "{ties} {follow} within {tie:g} nats: the 800 names are too few to say which of them is better."
)
UNMEASURED = "At step {step:,} fewer than two models have a measured validation loss."
QUICK = {  # whether the best at the step are among the best by then
    True: " After the first {seconds} seconds of training it was among the best, too.",
    False: (
        " After the first {seconds} seconds of training the order was another: the lowest loss, "
        "{loss:.3f}, was that of **{quick}**."
    ),
}
OVERFIT = (
    "{name} ends with the lowest training loss, {train:.3f}. On names that it never saw its loss "
    "is {loss:.3f}, and that of {best} is {behind:.3f} lower. Not all that {name} learned from its "
    "list is true for other names. The gap of {gap:.3f} between its two losses is a sign of "
    "[[overfitting]]."
)
DROPPED = (
    "The training loss of {names} is higher than the validation loss. One reason is [[dropout]]: "
    "while the model learns, some of its numbers are set to 0 at random. The validation loss is "
    "measured without dropout."
)
ASK = (
    "{low} ends with the lowest training loss of all, {train:.3f} nats after {step:,} steps. Which "
    "of these models ends with the lowest loss on the {count} names that none of them saw? Look at "
    "the rings at the right end of the chart, or at the last step of the table."
)
ASK_ANSWER = "{name}: {parameters:,} parameters, training loss {train:.3f}"
ASK_RIGHT = "{name} ends at {loss:.3f} nats there, the lowest of these."
ASK_WRONG = "{name} ends at {loss:.3f} nats there, {gap:.3f} more than {best}."
INVENT_TITLE = "What each invents"
INVENT_TEXT = (
    "Each model writes {count} names now, from one seed and at temperature 1. The bigram uses only "
    "the last letter. At the end of each line you see how many of the names are in the list that "
    "the model learned from."
)
INVENT_SEED = "Seed"
INVENTED = "**{name}**: {listed}; {known} from the list."
INVENT_CODE = "Show the code of the names"
AGAIN_TITLE = "Train them again here"
AGAIN_TEXT = (
    "The same settings with fewer steps, so that you can watch. The runs wait in the queue of this "
    "machine. Their curves appear in the chart above while they train, and you can choose the "
    "models in the other lessons."
)
AGAIN_WHO = "Up to {most} at a time"
AGAIN_STEPS = "Steps"
AGAIN = "Start {count}"
AGAIN_FORGET = "Remove my runs from the chart"
YOURS = "{name}, yours"
