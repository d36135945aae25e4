"""The controls of the chapter "MLP", as its links write them."""

from llmviz.course.ui import codec

PARAMS = [
    codec.integer("slideat", -1, -1, 15),  # the letter whose window is opened; -1: the last one
    codec.text("sliding", ""),  # the kept number of the opened window
]
