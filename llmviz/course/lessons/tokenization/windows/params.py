"""The controls of the chapter "Windows", as its links write them."""

from llmviz.course.ui import codec

PARAMS = [
    codec.integer("context", 4, 1, 16),
    codec.integer("stride", 3, 1, 32),
    codec.integer("batch", 2, 1, 8),
    codec.integer("window", 0, 0, 1_000),
]
