"""The chapter "Masks" of the lesson "Attention"."""

from llmviz.course.document import beside
from llmviz.course.ui import codec

words = beside(__file__)

PARAMS = [
    codec.choice("mask", "causal", list(words.masks)),
    codec.integer("window", 2, 1, 64),
    codec.integer("real", 2, 0, 64),
    codec.text("own", "", 5_000),
    codec.choice("when", "before", list(words.when)),
    codec.choice("scale", "head", list(words.scales)),
    codec.choice("twin", "names-gpt-no-mask", list(words.twins)),
]
