"""The chapter "Optimizers" of the lesson "Training"."""

from llmviz.course.document import beside
from llmviz.course.lessons.training.descent import walk
from llmviz.course.ui import codec

words = beside(__file__)

FIRST_LETTER = "y"  # whose sums are written out

PARAMS = [
    codec.choice("ways", "surface", list(words.parts)),
    codec.choice("look", "one", ["one", *words.parts]),  # of links from when "Descent" held all
    codec.choice("surface", "ravine", list(words.surfaces)),
    codec.choices("opts", ["sgd", "momentum", "rmsprop", "adam"], list(words.names)),
    codec.text("from", ""),
    codec.number("beta1", 0.9, 0.0, 0.99),
    codec.number("beta2", 0.99, 0.0, 0.9999),
    codec.number("decay", 0.0, 0.0, 1.0),
    *walk("surf", [17]),
    codec.integer("order", 1, 0, 999),
    codec.integer("letter", ord(FIRST_LETTER) - ord("a"), 0, 25),
    *walk("ltr", [4]),
    codec.choices("racers", list(words.names), list(words.names)),
    *walk("big", [16, 16, 14, 11, 5, 9, 9]),
]
