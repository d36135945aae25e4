"""The controls of chapter "Cross-attention", as its links write them."""

from llmviz.course.ui import codec

PARAMS = [
    codec.integer("pair", -1, -1, 1_000),  # the head of the translation, -1: the best aligned
    codec.integer("crossing", -1, -1, 1_000),  # the step of its matrices, -1: the last
]
