"""The controls of the chapter "Backpropagation", as its links write them."""

from llmviz.course.lessons.training.backprop import graph as net
from llmviz.course.lessons.training.backprop import nudging, words
from llmviz.course.ui import codec

NUDGE_MATRICES = ("W_Q", "W_K", "W_V", "W1", "W2", "W_out")

SMALL_FIRST = len(net.FORWARD) + net.BACKWARD.index("W1")

SMALL_LAST = len(net.FORWARD) + len(net.BACKWARD) - 1

SMALL = [
    codec.integer("target", 1, 0, 4),
    codec.integer("walk", SMALL_FIRST, 0, SMALL_LAST),
    codec.choice("moving", "W2", list(NUDGE_MATRICES)),
    codec.number("eta", 0.5, 0.0, 10.0),
]

NUDGE = [
    codec.choice("wmat", "W_out", list(NUDGE_MATRICES)),
    codec.integer("wrow", 3, 0, 20),
    codec.integer("wcol", 1, 0, 20),
    codec.integer("moved", 52, 0, nudging.STOPS - 1),
]


DEFAULT_MODEL, DEFAULT_MATRIX = "tiny-world-char", "blocks.1.mlp.hidden.weight"

TRAINED_STEEPEST = -1

TRAINED = [
    codec.text("story", words.sentence, 2_000),
    codec.text("pupil", DEFAULT_MODEL),
    codec.text("tmat", DEFAULT_MATRIX),
    # −1: the one with the largest gradient
    codec.integer("trow", TRAINED_STEEPEST, TRAINED_STEEPEST, 1_000_000),
    codec.integer("tcol", TRAINED_STEEPEST, TRAINED_STEEPEST, 1_000_000),
    codec.integer("shifted", 60, 0, nudging.STOPS - 1),
]

PARAMS = [
    codec.choice("how", "small", list(words.parts)),
    *SMALL,
    *NUDGE,
    *TRAINED,
]
