"""The controls of the chapter "All of them", as its links write them."""

from llmviz.course.lessons.history.all import words
from llmviz.course.ui import codec

PARAMS = [
    codec.choice("all", "axes", list(words.parts)),
    codec.choice("across", "parameters", list(words.measures)),
    codec.choice("up", "loss", list(words.measures)),
    codec.flag("wrote", False),
    codec.integer("wseed", 1, 0, 9_999),
]
