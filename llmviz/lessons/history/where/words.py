"""All that the chapter "Where language models stand" says; braces are filled in with numbers."""

from llmviz.lessons.history import LESSON

TITLE = LESSON.title_of("where")
TEXT = (
    "These fields lie inside each other. Open one. Each field except the innermost shows a program "
    "of its kind. All these programs have the same task: after the letters that you typed, which "
    "letter comes next? Each field also shows an example that belongs to it, but not to the next "
    "field inside."
)
PICTURE = "six fields inside each other, from artificial intelligence to large language models"
RINGS = {
    "ai": ("Artificial intelligence", "programs that do what seems to need thought"),
    "ml": ("Machine learning", "rules that come from data"),
    "dl": ("Deep learning", "networks with hidden layers"),
    "generative": ("Generative models", "they make new examples"),
    "lm": ("Language models", "a probability for each next token"),
    "llm": ("Large language models", "the same, very large"),
}
ABOUT = {
    "ai": (
        "**Artificial intelligence** is the widest term. The program below has rules that a person "
        "wrote. It learns nothing and has no probabilities."
    ),
    "ml": (
        "In **machine learning** a person writes how to learn, and the numbers come from data. The "
        "program below counted letter pairs in {names:,} names."
    ),
    "dl": (
        "**Deep learning** learns with networks that have hidden layers, by gradient descent. The "
        "program below is an MLP of {mlp:,} parameters that looks {window} letters back."
    ),
    "generative": (
        "**Generative models** make new examples like those they learned from, by chance. The "
        "program below, a trained {writer}, continues your name with random numbers. (The picture "
        "shows how these terms are mostly used today. A table of counts generates, too, and is not "
        "deep.)"
    ),
    "lm": (
        "**Language models** generate text: they give each next [[token]] a probability, given "
        "those before. The program below is a GPT of {gpt:,} parameters, trained on names."
    ),
    "llm": (
        "**Large language models** do the same on words of all kinds of text. What makes one "
        "*large* is the number of parameters, the amount of text and the computing. There is no "
        "sharp border. None of them runs here; in the last chapter of *Inside the transformer* you "
        "can bring in GPT-2."
    ),
}
PROGRAM = "The program on your name"
BY_RULES = "After {name} the rules say {letter}, because {rule}.{more}"
RULES_GO_ON = " They continue it to {whole}."
RULE_LIST = "All rules, of which the first that fits is used: {rules}."
BY_CHANCES = "After {name} it says: {top}."
BY_DICE = "With these random numbers it continues {name} to {whole}."
BY_DICE_ENDS = "With these random numbers the name ends there: {name}."
BY_DICE_FULL = (
    "{name} has {limit} letters, the most that are read here. Delete some, and it can go on."
)
DICE = "Seed of the random numbers"
NAME_ENDS = "the end"
SHARE = "Most probable letter right: {share} of the {letters:,} held-out letters, ends included."
SHARE_RULES = "Predicted letter right: {share} of the {letters:,} held-out letters, ends included."
EXAMPLE = "In this field, not in the next"
ASK = (
    "Four programs predict each letter of {names:,} names that none of them learned from. Which is "
    "right most often?"
)
TOGETHER = "{programs}: too close to tell which is better"
TOGETHER_REASON = (
    "{shares}. With {letters:,} letters, shares that are so close can change places on other names."
)
PROGRAMS = {
    "rules": "Rules by hand",
    "pairs": "Counted pairs",
    "mlp": "A small network",
    "gpt": "A trained GPT",
}
ASK_REASON = "{program}: right at {share} of the letters."

# ---- a way through a map

ROUTE = (
    "A program that finds a shortest way. Click a square to make it the goal. The search goes on "
    "from the squares through which the way looks shortest (A*). The program learns nothing from "
    "one search for the next."
)
ROUTE_DONE = (
    "The shortest way has {steps}. The guided search looked at {guided} of {free} squares, one "
    "without guidance (Dijkstra) at {plain}."
)
ROUTE_HERE = "The goal is the start: there is no way to go."
ROUTE_NONE = "No way leads there."
ROUTE_WALL = "That square is a wall. The goal stays where it was."
ROUTE_GRID = "a map; the numbers are steps from the start, by the ways found so far"
ROUTE_START, ROUTE_GOAL = "S", "G"
ROUTE_NOTE = "{steps} from the start, by the way found so far"
ROUTE_UNTRIED = "not looked at"
ROUTE_IS_WALL = "a wall"

# ---- a line through points

LINE = (
    "A line fitted to points: how many vowels (a, e, i, o, u) has a name of so many letters? Each "
    "point is the mean over the names of one length, among {names:,} names. The line has two "
    "learned numbers and no hidden layer. Least squares finds them at once."
)
LINE_DONE = (
    "vowels = {a} + {b:.3f} × letters. For your name, {name}, with {letters}, the line says "
    "{guess:.2f}; it has {vowels}."
)
LINE_AXES = ("letters", "vowels, mean")
LINE_NAMES = ("names of this length", "fitted line", "your name")

# ---- which letter is it

PAD = (
    "A network that says which letter a picture shows. It was trained in this app, when this part "
    "was first opened, on {seen:,} pictures of capital letters. A program turned, tilted and "
    "stretched them. The network has {hidden} hidden units. It can name a picture but not make "
    "one: it is a *classifier*."
)
PAD_WORDS = {
    "label": "a canvas to draw a capital letter on",
    "clear": "Clear",
    "hint": "Draw one capital letter. Clear the canvas first.",
}
PAD_DONE = (
    "It takes this for {best} with a probability of {p}; then come {others}. Of {tested} pictures "
    "that it had not seen it named {accuracy} correctly."
)
PAD_EMPTY = "Draw a letter: the canvas is empty."
PAD_LETTERS = "the probability of each letter"
TRAINING = "Training on pictures: step {step} of {steps}, loss {loss:.3f} nats"
WAITS = "A process is getting ready …"

# ---- a picture drawn by a model

DRAWS = (
    "A model that draws letters, trained on the same pictures. It goes from pixel to pixel, row by "
    "row. For each pixel it computes a probability of black, from the letter and the pixels "
    "before. A random number decides. GPT writes in the same way, with tokens in place of pixels. "
    "But this model makes no language. (It is so small that it has no hidden layer, so strictly it "
    "is not deep.)"
)
DRAWS_SEED = "Seed of the drawing"
DRAWS_DONE = "A new {letter}{whose}: {black} of {all} pixels are black."
DRAWS_WHOSE = {True: ", the first letter of your name", False: ""}
DRAWS_GRID = "a picture that the model drew"

# ---- a small language model

SMALL = (
    "The GPT above is a language model and not a large one. It has {parameters:,} parameters and "
    "read {tokens:,} tokens. GPT-3 has {times} times as many parameters."
)

# ---- how large

SIZES = (
    "Parameters and training tokens of well-known models as their papers give them, beside the GPT "
    "of names. Both axes go by powers of ten. Computing is taken as 6 × parameters × tokens for "
    "all of them (Kaplan and others 2020)."
)
SIZE_AXES = ("tokens read in training", "parameters")
OURS = "names-gpt, here"
SIZE_COLUMNS = ("model", "year", "parameters", "training tokens", "operations", "source")
SIZE_UNKNOWN = "not given"
SIZE_DONE = (
    "From the GPT here to {largest}: {parameters} times the parameters, {tokens} times the tokens, "
    "{compute} times the computing."
)
OUR_SOURCE = "its card, data/checkpoints/names-gpt"
