"""The chapter "MLP" of the lesson "From counts to GPT"."""

from llmviz.course.document import beside
from llmviz.course.ui import codec

words = beside(__file__)

PARAMS = [
    codec.integer("slideat", -1, -1, 15),  # the letter whose window is opened; -1: the last one
    codec.text("sliding", ""),  # the kept number of the opened window
    codec.integer("treeat", -1, -1, 15),  # the letter whose tree is drawn; -1: the last one
    codec.text("node", ""),  # the opened node, "2.1": level and number; none: the root
    codec.text("fused", ""),  # the kept number of the opened node
]
