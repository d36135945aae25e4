"""All that the chapter "One test for all" says. Names in braces are filled in with live numbers."""

TITLE = "Remember the first letter"
TEXT = (
    "Names are short, and the last letters alone tell much about the next. So here is a test that "
    "only memory can pass. A model reads random letters, and after 1 to {farthest} more of them it "
    "must say which letter was the **first**. The letters in between carry no hint: a model that "
    "has forgotten is right in one of 26 cases, {chance}. All {models} models were trained alike: "
    "{steps:,} steps of {rows} random strings of {length} letters, the same strings for all. Each "
    "string was asked once, at a distance drawn at random."
)
MODELS = {
    "mlp": "MLP",
    "wavenet": "WaveNet",
    "rnn": "RNN",
    "gru": "GRU",
    "lstm": "LSTM",
    "gpt": "GPT",
}
NONE = "The models of this test are not in this copy of the app. This command makes them:"
COMMAND = "python -m llmviz.training.first_letter"
MISSING = "Not in this copy of the app: {names}. `{command}` makes them."
CHART = "Accuracy against distance"
CHART_TEXT = (
    "Each point is measured on {asked:,} strings that no model was trained on: the share in which "
    "its likeliest letter was the first one."
)
AXES = ("letters after the first one", "right answers, %")
TOGETHER = "The lines of {names} overlap: they differ by less than one point everywhere."
CHANCE = "one in 26"
HOVER = "%{y:.1f} %"
TABLE = (
    "model",
    "parameters",
    "seconds of training",
    *(f"right after {n}, %" for n in (7, 31, 60)),
)
TABLE_AT = (7, 31, 60)
ASK = (
    "The RNN has no window and was trained on strings of {length} letters. Up to how many more "
    "letters is it right about the first one, each time in at least nine of ten strings?"
)
ASK_ANSWERS = ("7 or fewer", "8 to 30", "31 to 59", "all 60")
ASK_REASON = "It is right in nine of ten strings up to {letters}."
ASK_NEVER = "Already after one more letter it is right in fewer than nine of ten strings."

WHY = "What each one changes"
WHY_TEXT = (
    "The order is that of this lesson, not of invention. Each model was trained once, from one "
    "seed, with the same learning rate and number of steps. So the figures say what these {models} "
    "models learned. Another seed or a longer training may give others."
)
IDEAS = {
    "mlp": (
        "An MLP reads a window of {window} letters, which covers {covered} of the {farthest} "
        "distances. What has left the window is lost."
    ),
    "wavenet": (
        "A WaveNet joins letters pair by pair, so each doubling of the window needs only one more "
        "level. But its window of {window} letters is still a window: it covers {covered} of the "
        "{farthest} distances."
    ),
    "rnn": "An RNN has no window: one state is carried along, and each letter rewrites all of it.",
    "gru": "A GRU may keep parts of its state as they are: a gate decides it for each unit.",
    "lstm": (
        "An LSTM has a cell besides its state. Gates decide what stays in the cell and what is "
        "added to it."
    ),
    "gpt": (
        "A GPT carries no state along. Each position itself looks back at every letter, so no "
        "position waits for the one before."
    ),
}
MEASURED = (
    "Measured: over all distances {mean} are right. It is right in nine of ten strings {far}, and "
    "better than guessing {beyond}."
)
NOWHERE, UP_TO, EVERYWHERE = "at no distance", "up to {letters}", "at all distances"
MORE_LETTER = "more letter"
AFTER = {
    "more": " Over all distances that is {n:.1f} points more than the {other}.",
    "less": " Over all distances that is {n:.1f} points less than the {other}.",
    "same": " Over all distances that is as much as the {other}.",
}

OWN = "Your own string in all models"
OWN_TEXT = (
    "Type up to {length} letters. Each row is a model and each column a letter of your string. A "
    "cell shows which letter the model takes for the first one; its colour is the probability that "
    "it gives to the right one. Click a cell to see what else it considers. In training the "
    "question never came right after the first letter. So the models did not learn what the first "
    "column shows."
)
STRING = "A string of letters"
STRING_DEFAULT = "kzjxbwqvmtplrdgfshcnyuoeaiqwjxzkvbpm"
LONG = "The string has {all} letters. The first {limit} are used."
EMPTY = "There is no letter from a to z yet. Type a string above."
GRID = "which letter each model takes for the first one, letter by letter"
GRID_SCALE = ("0 %", "100 % for the right letter")
NOTE = "says {guess}; {right} for {first}"
END_AFTER, END_AFTER_ONE = "the last of your {n} letters", "your one letter"
END_RIGHT = "After {after}, {right} {know} the first one, {first}."
END_WRONG = "After {after}, {wrong} {give} another letter than {first}."
END_BOTH = "After {after}, {right} {know} the first one, {first}; {wrong} {give} another letter."
OPENED = "{model} after letter {n}, {letter}: the likeliest letters and the right one"
OPENED_AXIS = "probability that this was the first letter, %"
