"""The chapter "Beam search" of the lesson "Sampling"."""

from llmviz.course.document import beside
from llmviz.course.lessons.sampling import source
from llmviz.course.ui import codec

words = beside(__file__)

MOST_WIDTH, MOST_TOKENS = 8, 3

PARAMS = [
    codec.integer("width", 1, 1, MOST_WIDTH),
    codec.text("begin", "d"),
    codec.integer("letters", MOST_TOKENS, 1, MOST_TOKENS),
    codec.text("small", source.SMALL_MODEL),
]
