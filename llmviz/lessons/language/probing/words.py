"""All that the chapter "What layers know" says. Names in braces are filled in with live numbers."""

TITLE = "At which layer does the model know the tag?"
TEXT = (
    "A story model was trained to predict the next token, and nobody told it about verbs or names. "
    "Can they be read off its vectors anyway? A [[probe]] is one linear layer that is fitted to "
    "the vectors of one place in the model, while the model itself stays as it is. Its score on "
    "stories that it was not fitted to says how easily the tag can be read there."
)
CONTROL = (
    "A probe may also have learned single words by heart. So each place gets a second one for a "
    "[[control task]]: every word has a tag drawn at random, always the same one for the same "
    "word. Only learning by heart helps there. Accuracy minus the control's is the selectivity: "
    "how much better the probe is at real tags than at tags that say nothing."
)
KIND = "Read off"
KINDS = {"tag": "Part of speech", "entity": "Name (BIO tag)"}
STORIES = "Stories to fit to"
START = "Fit these probes now"
STOP = "Stop"
AGAIN = "Fit them again"
LINES = ("accuracy", "control task", "selectivity")
AXIS = "share of words"
EMBEDDINGS = "embeddings"
AFTER = "after "
LAYER = AFTER + "layer {layer}"
GRID = "what the probe of each layer reached"
NOTES = (
    "{value} of the words of held-out stories got their true class",
    "{value} of them got their random tag",
    "accuracy − control: {value}, rounded after the subtraction",
)
MEASURED = (
    "Measured by `{command}`, with {stories} stories to fit to and {test} to test on, on the model "
    "{model}."
)
FITTED = (
    "Fitted a moment ago in a process of its own: {stories} stories to fit to and {test} to test "
    "on, on the model {model}."
)
NONE = (
    "There is no measurement of these settings yet. Press the button: it can take minutes, and the "
    "lines grow layer by layer."
)
WAITING = "Waiting for a place: {before} before this one."
GOING = "{done} of {all} places are fitted: the embeddings, then each layer …"
STOPPED = "Stopped after {done} of {all} places."
FAILED = "The probes could not be fitted: {problem}"
READ = (
    "Highest accuracy: {best} with {accuracy}. Highest selectivity: {selective} with "
    "{selectivity}. At the embeddings, where a token has seen nothing of the words around it, the "
    "probe reaches {first}."
)
BOTH = ", "
READ_ONE = "So far only {best} is fitted: accuracy {accuracy}, selectivity {selectivity}."
WIDE = (
    "A word's vector is that of its last token: in this kind of model it is the only one of the "
    "word's tokens that has read all of them. It has read nothing that comes after it."
)
ANSWER_FIRST = "The selectivity is drawn once you have answered the question above."
ASK = "At which place is the selectivity, accuracy minus that of the control task, highest?"
ASK_REASON = "There it is {selectivity}; the accuracy is {accuracy}, that of the control {control}."
