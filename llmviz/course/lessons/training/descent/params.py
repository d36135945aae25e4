"""The controls of the chapter "Descent", as its links write them."""

from llmviz.course.lessons.training.descent import walkers, words
from llmviz.course.ui import codec

ONE_WEIGHT_NAME = "one"

ONE_WEIGHT = walkers.controls(ONE_WEIGHT_NAME, [37])


SURFACE_NAME = "surf"

SURFACE_FIRST = ["sgd", "momentum", "rmsprop", "adam"]

SURFACE = [
    codec.choice("surface", "ravine", list(words.surfaces)),
    codec.choices("opts", SURFACE_FIRST, list(words.names)),
    codec.text("from", ""),
    codec.number("beta1", 0.9, 0.0, 0.99),
    codec.number("beta2", 0.99, 0.0, 0.9999),
    codec.number("decay", 0.0, 0.0, 1.0),
    *walkers.controls(SURFACE_NAME, [24]),
]


LETTERS_NAME = "ltr"

LETTERS_FIRST = "y"  # the letter whose sums are written out

LETTERS = [
    codec.integer("order", 1, 0, 999),
    codec.integer("letter", ord(LETTERS_FIRST) - ord("a"), 0, 25),
    *walkers.controls(LETTERS_NAME, [4]),
]


MODEL_NAME = "big"

MODEL = [
    codec.choices("racers", list(words.names), list(words.names)),
    codec.flag("deep", False),
    *walkers.controls(MODEL_NAME, [16, 16, 14, 11, 5, 9, 9]),
]

PARAMS = [
    codec.choice("look", "one", list(words.looks)),
    *ONE_WEIGHT,
    *SURFACE,
    *LETTERS,
    *MODEL,
]
