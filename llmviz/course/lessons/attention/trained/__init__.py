"""The chapter "A trained model" of the lesson "Attention"."""

from llmviz.course.document import beside
from llmviz.course.ui import codec

words = beside(__file__)

PARAMS = [
    codec.choice("asked", "auto", ["auto", "book", "candle", "own"]),  # auto: own once it is typed
    codec.integer("story", 0, 0, 999),  # with two things, in which the model looks up who has one
    codec.choice("mover", "0", list("0123")),  # of the heads that look it up, which is opened
    codec.text("looked", ""),  # the question and the token whose weight is opened, "1.87"
]
