"""The chapter "A head learns to copy" of the lesson "Discoveries you can repeat"."""

from llmviz.course.document import beside
from llmviz.course.ui import codec
from llmviz.interpretability.induction import HEADS

words = beside(__file__)

FIRST, SECOND = 0, 1  # the heads of each layer without which most is lost in the end
FIRST_LETTERS = "qmxztbqmxz"
OWN_LAYERS, OWN_HEADS = ("1", "2"), ("1", "2", "4")

PARAMS = [
    codec.integer("copyframe", -1, -1, 999),
    codec.integer("copyfirst", FIRST, 0, HEADS - 1),
    codec.integer("copysecond", SECOND, 0, HEADS - 1),
    codec.text("copycell", ""),
    codec.text("copyletters", FIRST_LETTERS, 64),
    codec.choice("copylayers", "2", OWN_LAYERS),
    codec.choice("copyheads", "2", OWN_HEADS),
    codec.integer("copyseed", 5, 0, 999),
    codec.flag("copyown", False),
]
