"""What all chapters of this lesson say about the learner's name."""

NAME = "A name"
NAME_HELP = "Letters a to z. Capital letters are read as small ones."
CUT = "These models know the letters a to z only. Left out: {cut}."
EMPTY = "There is no letter from a to z yet. Type a name above."
LONG = "The name has {all} letters. The first {limit} are used."
END = "."  # how the start and the end of a name are drawn
NAME_ENDS = "the end"  # as a next token
# A hidden layer with batch norm: the label of each matrix, and what stands behind it.
LAYER = {
    "pair": ("pair", "left and right side by side"),
    "window": ("window", "the letters' vectors side by side"),
    "linear": ("product", "times W"),
    "mean": ("mean", "of each unit, from training"),
    "deviation": ("deviation", "of each unit, from training"),
    "centred": ("centred", "product − mean"),
    "unit": ("normed", "centred ÷ deviation"),
    "gain": ("gain", "learned"),
    "shift": ("shift", "learned"),
    "gained": ("gained", "normed × gain"),
    "normed": ("before tanh", "gained + shift"),
    "tanh": ("h", "tanh"),
    "logits": ("logits", "h times the head, plus its bias"),
    "p": ("probabilities", "softmax"),
}

# The ways into other lessons.
ELSEWHERE = "Go on with {name} in other lessons:"
LINKS = {
    "attention": "An RNN and a GPT side by side: Attention",
    "transformer": "Your name in one layer: Inside the transformer",
    "training": "The race of the seven trained models: Training",
}
