"""All that the chapter "A classifier" says. Names in braces are filled in with live numbers."""

TITLE = "Exchange the head"
TEXT = (
    "Is this review good or bad? Is this mail spam? A classifier reads a text and chooses one of a "
    "few classes. To make one out of a language model, its last matrix is taken away. It gave a "
    "score for each token of the vocabulary. A small new matrix takes its place and gives a score "
    "for each class. It begins with random numbers and is trained on labelled texts."
)
LABELS = "Labels"
SOURCES = {"stories": "From the grammar", "typed": "Typed by you", "file": "From a file"}
TASK = "The question"
TASKS = {
    "who": "Woman or man?",
    "mood": "Glad or sorry?",
    "about": "What is it about?",
    "ending": "How does it end?",
}
TASK_TEXT = {
    "who": "Is the person whom the story names first a woman or a man?",
    "mood": "Is the feeling in the last sentence a glad or a sorry one?",
    "about": "Is the story about a gift, about a thing that is found, or about people alone?",
    "ending": "What does the last sentence tell? There are five kinds.",
}
READS_LABEL = "What the classifier reads"
READS = {"first": "First sentence", "last": "Last sentence", "whole": "The whole story"}
GRAMMAR = (
    "{question} The grammar that wrote the stories knows the answer, so no label is wrong. The "
    "label is that of the whole story, whatever part of it is read."
)
TYPED = """animal: The dog ran past the hedge.
animal: Along came a cat and a hen.
animal: The tigers behind the lake were asleep.
animal: Never trust swallows.
animal: The octopus was awake.
animal: There goes a bold wasp.
food: Every day she had carrots and plums.
food: In the end Anna ate caramel.
food: He bought bread and cheese.
food: They had dumplings at the market.
food: The soup was hot.
food: She ate a sweet apple."""
TYPED_LABEL = "One text a line, its label and a colon in front"
FILE_LABEL = "A CSV file with the columns text and label, in UTF-8, {limit} at most"
FILE_HELP = "A file cannot be put into a link. Everything else of this chapter is in it."
FILE_TAKEN = "In use: {name}, {texts}."
FILE_NONE = "Choose a file. Until then there is nothing to train on."
COUNTED = (
    "{texts} in {classes}: {counts}. About a fifth of each class, one text at least, is kept for "
    "the test."
)
UNKNOWN = (
    "{share} of the tokens in {looked} are unknown to this model. It sees the same sign for all "
    "of them, so it cannot tell them apart."
)
LOOKED = ("these texts", "the first {count} texts")
COLUMNS = ("label", "text")
HEAD = (
    "The old head had {vocab} × {width} = {old} numbers. The new one has {classes} × {width} "
    "weights and {classes} biases: {new} numbers."
)
NOT_A_GPT = (
    "The class head of this chapter works only with a GPT, and this model is not one. Choose "
    "another."
)

TRAIN_TITLE = "Train it"
TRAIN_TEXT = (
    "The switch says which numbers may change. If only the head is trained, the frozen part "
    "computes the same numbers for a text every time. So they are computed once and kept, and a "
    "step is short. Otherwise every step goes through the whole model."
)
WAY = "What is trained"
WAYS = {
    "head": "Head alone",
    "last": "Last block too",
    "all": "Everything",
    "nothing": "From nothing",
}
EXAMPLES = "Training texts"
STEPS = "Steps"
SEED = "Seed"
RARE = "Share of the first class that is kept"
RARE_HELP = (
    "Below 1, training texts of the first class are left out at random. The test stays as it is."
)
BALANCED = "Count rare classes more"
BALANCED_HELP = "Each class then counts the same in the loss, however few texts it has."
TRAIN, AGAIN, STOP = "Train", "Train again", "Stop"
STARTING = "A process is being started, and the texts are being read …"
QUEUED = "{before} before this one."
PROGRESS = "Step {step} of {steps}."
STOPPED = (
    "Stopped. What follows is the classifier as it was at step {step}, when it was last tested."
)
STOPPED_EARLY = "Stopped before the classifier was first tested, so there is none to look at."
NOT_YET = "Nothing is trained with these settings yet. Press the button."
FIRST_ONE = "This classifier was trained with these settings before you came."
TOOK = (
    "{trained} of {parameters} numbers were trained on {texts}. Preparing the texts took "
    "{preparing}, the training {seconds}."
)
LOSS_NAMES = ("training texts", "test texts")
LOSS_AXES = ("step", "loss, nats per text")

REACHED_TITLE = "What it gets right, and what it confuses"
REACHED = (
    "Of {count}, kept apart from the training texts, **{right}** get their own class: "
    "**{share}**. Always saying {guess} would get {chance}."
)
BALANCED_REACHED = (
    "The mean over the classes is {balanced}: there each class counts the same. The two can differ "
    "where some classes have more texts in the test than others."
)
RARE_SEEN = (
    "In training, {name} had {few} and the other classes together {rest}. The test has {tested} of "
    "{name}; recognised: {recognised}. {advice}"
)
RARE_ADVICE = (
    "A classifier can lower its loss by choosing frequent classes too often. Count rare classes "
    "more, train again, and compare."
)
RARE_BALANCED = "Here rare classes counted more in the loss."
TABLE = "confusion matrix: rows are the true classes, columns what the classifier says"
SCALE = ("none of the row", "all of the row")
CELL_NOTE = "{own}, called {called}: {texts}, {share} of the row"
OPEN_CELL = "Click a cell to read the texts in it."
CELL_OPENED = "Texts of {own} that were called {called}, {shown} of {count}:"
CELL_EMPTY = "No text of {own} was called {called}."
CELL_COLUMNS = ("text", "probability of what it says")
GUESS_QUESTION = (
    "The test has {count} texts: {counts}. How many of them would a classifier get right that "
    "reads nothing and always says the most frequent class?"
)
GUESS_RIGHT = (
    "{guess} has {most} texts, and all of these would be right. Compare what a classifier reaches "
    "with this number."
)
GUESS_WRONG = {
    "even": (
        "That is {count} divided by {classes}, down to a whole number. A guess that takes each "
        "class equally often gets about that many right on average."
    ),
    "none": "It never reads, but it is right whenever the text happens to be of that class.",
    "all": "Only if all texts were of one class.",
}

PADDING_TITLE = "The last token, and the filler behind it"
PADDING_TEXT = (
    "The class is read from one vector, that of the last token. Under the [[causal mask]] only the "
    "last token has seen the whole text. But texts of a batch have different lengths, and a matrix "
    "needs equal ones: short texts are filled up at the right ([[padding]]). Then the last column "
    "of the matrix is not the last token of every text."
)
PADDED_GRID = "test texts as they lie in a batch"
PADDED_SCALE = ("filler", "the token that is read")
FILLER = "·"
PADDED_NOTES = {
    "filler": "filler: nothing is read here",
    "last": "the last token of the text: the class is read here",
    "token": "a token of the text",
}
PADDED_CUT = "The picture shows columns {first} to {last} of {last}."
PADDED_COLUMNS = (
    "text",
    "tokens",
    "its class",
    "probability of it, read at the last token",
    "read at the last column",
)
PADDED_MEASURED = (
    "Then every filler was replaced by another token. The probabilities that are read at the last "
    "tokens {moved}: a token never sees what comes after it."
)
MOVED, UNMOVED = "moved by {most} at most", "did not move in any digit"
NO_FILLER = "These texts are equally long for the model, so this batch needs no filler."
COLUMN = "Column {}"
PADDED_QUESTION = (
    "One text of a batch has {tokens} tokens. The matrix of the batch has {columns} columns. From "
    "which column is the class of this text read?"
)
PADDED_RIGHT = "Column {tokens} holds its last token. What stands behind it in its row is filler."
PADDED_WRONG = {
    "last": "Column {columns} is filler in the row of this text. Only the longest texts end there.",
    "first": (
        "Column 1 is the start token. Under the causal mask it has seen nothing but itself, so it "
        "is the same for every text."
    ),
}

SENTENCE_TITLE = "Your sentence, token by token"
SENTENCE = "One summer morning, Naomi Marrowley the gardener woke up furious."
SENTENCE_TEXT = (
    "What does the classifier say of your sentence, and which tokens led it there? There are many "
    "ways to ask the second question. Two common ones are below. Neither gives the one true answer."
)
SENTENCE_LABEL = "Your sentence"
SAYS = "The classifier says {chosen}: {chances}."
EXPLAIN = "The class that is explained"
CHOSEN = "the one it says"
OCCLUSION = (
    "**Leaving out** (occlusion). Each token in turn is replaced by the mean of all token vectors, "
    "and the model runs again. The colour is how far the [[logits|logit]] of {target} falls. Its "
    "limits: nobody writes a text with a gap in it. And if two tokens say the same thing, the "
    "model may need only one of them, so that neither seems to matter."
)
GRADIENT = (
    "**Gradient × input.** How fast does the logit of {target} rise if the vector of a token grows "
    "in its own direction? One backward pass answers that for all tokens. Its limits: a slope says "
    "only what a very small change does. A larger change can do something else."
)
FELL, SLOPE = "what the logit loses without the token", "slope × vector"
READ_LAST = (
    "The classifier reads the last {count} tokens here; {left_out} before them are left out."
)
LAST_TOKEN = (
    "The last token is the one that the class is read from. Without it, the logit of {target} "
    "would fall by {value} (a value below 0 means that it would rise). The colours end at the "
    "largest value of the other tokens, so that these can be told apart."
)
AGREE = (
    "On this text the two lists have a correlation of {correlation}. Near 1 they rise and fall "
    "together. Near 0 one says little about the other. Below 0 they are opposed. The highest value "
    "of the first list is that of {without}, of the second that of {gradient}."
)
EMPTY = "There is no sentence. What follows is the answer to the start token alone."

CURVE_TITLE = "How many examples does it take?"
CURVE_TEXT = (
    "Labelled texts cost work. So the question behind transfer learning is: how many are needed? "
    "For this chart, {base} was trained on the question “{question}” again and again, with the "
    "first sentences of {least} to {most} stories. Each training was run with {seeds} seeds and "
    "tested on the same {tested} texts. The line is the mean, the band goes from the lowest to the "
    "highest seed."
)
CURVE_STEPS = (
    "A head alone had {head} steps, the others {last}, {all} and {nothing}. Other numbers of "
    "steps give other values. Everything was measured with `{command}`."
)
CURVE_AXES = ("training texts", "right on the test")
CURVE_GUESS = "always the most frequent class"
CURVE_READ = (
    "The gap is widest with {count} texts: there “{best}” gets {best_share} right and training "
    "from nothing {nothing_share}. With {most} texts it is {best_most} and {nothing_most}."
)
NO_CURVE = "The measured curve is not in this copy. This command makes it:"

SNIPPET = """
from llmviz.study.class_training import ClassPlan, Trained, training

plan = ClassPlan({given})
last = [one for one in training(plan) if isinstance(one, Trained)][-1]
print(f"{{last.accuracy:.3f}}")
print(last.table.tolist())
"""
SNIPPET_OWN = """
from llmviz.finetuning.labels import from_lines
from llmviz.study.class_training import ClassPlan, Trained, training

own = from_lines({typed!r})
plan = ClassPlan({given}, own=own)
last = [one for one in training(plan) if isinstance(one, Trained)][-1]
print(f"{{last.accuracy:.3f}}")
print(last.table.tolist())
"""
