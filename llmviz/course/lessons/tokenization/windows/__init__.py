"""The chapter "Windows" of the lesson "Text to tokens"."""

from llmviz.course.document import beside
from llmviz.course.ui import codec

words = beside(__file__)

PARAMS = [
    codec.integer("context", 4, 1, 16),
    codec.integer("stride", 3, 1, 32),
    codec.integer("batch", 2, 1, 8),
    codec.integer("window", 0, 0, 1_000),
]
