"""The chapter "Hidden words" of the lesson "Inside the transformer"."""

from llmviz.course.document import beside
from llmviz.course.ui import codec

words = beside(__file__)

PARAMS = [
    codec.integer("hide", -1, -1, 1_000),  # the word; -1: the one where both sides help most
    codec.text("bothhead", "2.0"),  # layer and head of the encoder, and of the decoder
    codec.text("lefthead", "0.0"),
]
