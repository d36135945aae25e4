"""The controls of the chapter "Hidden words", as its links write them."""

from llmviz.course.ui import codec

PARAMS = [
    codec.integer("hide", -1, -1, 1_000),  # the word; -1: the one where both sides help most
    codec.text("bothhead", "2.0"),  # layer and head of the encoder, and of the decoder
    codec.text("lefthead", "0.0"),
]
