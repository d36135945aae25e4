"""The chapter "One block, opened" of the lesson "Inside the transformer"."""

from llmviz.course.document import beside
from llmviz.course.ui import codec

words = beside(__file__)

PARAMS = [
    codec.choice("stage", "x", list(words.stages)),
    codec.integer("head", 0, 0, 1_000),
    codec.text("cell", ""),  # the kept cell, "norm 1.2.0"
    codec.text("seen", ""),  # which columns of wide matrices are seen, "C.96,D.12"
]
