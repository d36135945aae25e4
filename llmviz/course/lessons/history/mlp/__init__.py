"""The chapter "MLP" of the lesson "From counts to GPT"."""

from llmviz.course.document import beside
from llmviz.course.ui import codec

words = beside(__file__)

PARAMS = [
    codec.integer("slideat", -1, -1, 15),  # the letter whose window is opened; -1: the last one
    codec.text("sliding", ""),  # the kept number of the opened window
]
