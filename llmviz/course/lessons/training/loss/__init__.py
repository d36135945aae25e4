"""The chapter "What the loss is" of the lesson "Training"."""

from llmviz.course.document import beside
from llmviz.course.ui import codec

words = beside(__file__)

MOST = 64  # targets: each has a row in the matrices, which are seen through a window

NONE = -1  # no token has a weight of its own

PARAMS = [
    codec.text("sentence", words.sentence, 2_000),
    codec.text("reader", "tiny-world-gpt"),
    codec.choice("reduction", "mean", list(words.reductions)),
    codec.integers("skip", [], 0, MOST - 1),
    codec.integer("weighs", NONE, NONE, 1_000_000),
    codec.number("weight", 2.0, 0.0, 10.0),
    codec.number("smooth", 0.0, 0.0, 1.0),
    codec.integer("context", 4, 1, 16),
    codec.integer("stride", 3, 1, 32),
    codec.integer("window", 0, 0, 1_000),
]
