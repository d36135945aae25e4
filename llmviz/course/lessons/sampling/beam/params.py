"""The controls of the chapter "Beam search", as its links write them."""

from llmviz.course.lessons.sampling import source
from llmviz.course.ui import codec

MOST_WIDTH, MOST_TOKENS = 6, 12


EXHAUSTIVE_MOST_TOKENS = 3

EXHAUSTIVE = [
    codec.text("begin", "d"),
    codec.integer("letters", EXHAUSTIVE_MOST_TOKENS, 1, EXHAUSTIVE_MOST_TOKENS),
    codec.text("small", source.SMALL_MODEL),
]

PARAMS = [
    codec.integer("width", 3, 1, MOST_WIDTH),
    codec.integer("depth", 7, 1, MOST_TOKENS),
    codec.number("penalty", 0.0, 0.0, 2.0),
    *EXHAUSTIVE,
]
