"""The controls of chapter "Step by step", as its links write them."""

from llmviz.course.lessons.attention.steps import words
from llmviz.course.ui import codec

PARAMS = [
    codec.choice("rung", "causal", list(words.rungs)),  # what a link without it has always opened
    codec.integer("asking", -1, -1, 1_000),  # the token whose row is shown; -1: the last
    codec.number("p", 0.5, 0.0, 0.9),
]
