"""The controls of the chapter "One block, opened", as its links write them."""

from llmviz.course.lessons.transformer.block import words
from llmviz.course.ui import codec

PARAMS = [
    codec.choice("stage", "x", list(words.stages)),
    codec.integer("head", 0, 0, 1_000),
    codec.text("cell", ""),  # the kept cell, "norm 1.2.0"
    codec.text("seen", ""),  # which columns of wide matrices are seen, "C.96,D.12"
]
