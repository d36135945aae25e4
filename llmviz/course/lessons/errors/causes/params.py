"""The controls of the chapter "Find the cause", as its links write them."""

from llmviz.course.ui import codec

PARAMS = [
    codec.integer("casefile", 1, 1, 9_999),
    codec.integer("case", 1, 1, 10),
]
