"""The chapter "Cross-attention" of the lesson "Attention"."""

from llmviz.course.document import beside
from llmviz.course.ui import codec

words = beside(__file__)

PARAMS = [
    codec.integer("pair", -1, -1, 1_000),  # the head of the translation, -1: the best aligned
    codec.integer("crossing", -1, -1, 1_000),  # the step of its matrices, -1: the last
]
