"""The chapter "Step by step" of the lesson "Attention"."""

from llmviz.course.document import beside
from llmviz.course.ui import codec

words = beside(__file__)

PARAMS = [
    codec.choice(
        "rung", "causal", list(words.variants)
    ),  # what a link without it has always opened
    codec.integer("asking", -1, -1, 1_000),  # the token whose row is shown; -1: the last
    codec.number("p", 0.5, 0.0, 0.9),
    codec.choice("size", "64", [str(2**k) for k in range(10)]),  # of a head, below
]
