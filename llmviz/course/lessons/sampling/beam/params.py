"""The controls of the chapter "Beam search", as its links write them."""

from llmviz.course.lessons.sampling import source
from llmviz.course.ui import codec

MOST_WIDTH, MOST_TOKENS = 8, 3

PARAMS = [
    codec.integer("width", 1, 1, MOST_WIDTH),
    codec.text("begin", "d"),
    codec.integer("letters", MOST_TOKENS, 1, MOST_TOKENS),
    codec.text("small", source.SMALL_MODEL),
]
