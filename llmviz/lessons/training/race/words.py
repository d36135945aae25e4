"""What the chapter on the race says."""

TITLE = "Seven models, one list of names"
TEXT = (
    "From a table of letter pairs to a transformer: each read the same 7,200 names, in the same "
    "batches, equally often, and is measured on the same 800 names that none of them saw. Every "
    "point is from the run that made the bundled model, on one thread of one processor."
)
MODELS = {
    "names-bigram": ("bigram", "a table: one letter back"),
    "names-mlp": ("MLP", "eight letters through one hidden layer"),
    "names-wavenet": ("WaveNet", "eight letters fused pair by pair"),
    "names-rnn": ("RNN", "one vector carried from letter to letter"),
    "names-gru": ("GRU", "the same with gates"),
    "names-lstm": ("LSTM", "the same with a protected memory"),
    "names-gpt": ("GPT", "every letter looks back at all others"),
}
WHO = "On the chart"
NOBODY = "Choose at least one model."
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
    "At step {step:,} **{first}** is ahead with {loss:.3f} nats a letter, {gap:.3f} before "
    "{second}; {last} is last with {worst:.3f}."
)
QUICK = {
    True: " After the first {seconds} seconds of training it was ahead, too, with {loss:.3f}.",
    False: (
        " Counted in seconds of training it was another: after the first {seconds} seconds "
        "**{quick}** was ahead with {loss:.3f}."
    ),
}
OVERFIT = (
    "{name} has the lowest training loss, {train:.3f}, and is only number {place} on names that it "
    "never saw, with {loss:.3f}. What it learned about its list does not all hold for other names: "
    "the gap of {gap:.3f} is [[overfitting]]."
)
ASK = (
    "{low} ends with the lowest training loss of all, {train:.3f} nats after {step:,} steps. Which "
    "model ends best on the {count} names that none of them saw? "
    "The rings at the right end of the chart tell, and the table at its last step."
)
ASK_ANSWER = "{name}: {parameters:,} parameters, training loss {train:.3f}"
ASK_RIGHT = "{name} ends at {loss:.3f} nats there, the lowest of all."
ASK_WRONG = "{name} ends at {loss:.3f} nats there, number {place} of {all}."
INVENT_TITLE = "What each invents"
INVENT_TEXT = (
    "{count} names from each model, written now, all from one seed at temperature 1. The bigram "
    "forgets everything but the last letter, and it shows; behind each line stands how many are "
    "names that the model has read."
)
INVENT_SEED = "Seed"
INVENTED = "**{name}**: {listed}; {known} from the list."
INVENT_CODE = "Show the code of the names"
AGAIN_TITLE = "Train them again here"
AGAIN_TEXT = (
    "The same settings, shortened to a few hundred steps so that you can watch. The runs queue up "
    "with everyone else's on this machine; their curves join the chart above as they come, and "
    "the models can be chosen in the other lessons."
)
AGAIN_WHO = "Up to {most} at a time"
AGAIN_STEPS = "Steps"
AGAIN = "Start {count}"
AGAIN_FORGET = "Take mine off the chart"
YOURS = "{name}, yours"
ENDED = "{line}"
