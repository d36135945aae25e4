"""The chapter "All of them" of the lesson "From counts to GPT"."""

from llmviz.course.document import beside
from llmviz.course.ui import codec

words = beside(__file__)

PARAMS = [
    codec.choice("all", "axes", list(words.parts)),
    codec.choice("across", "parameters", list(words.measures)),
    codec.choice("up", "loss", list(words.measures)),
    codec.flag("wrote", False),
    codec.integer("wseed", 1, 0, 9_999),
]
