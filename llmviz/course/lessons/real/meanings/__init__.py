"""The chapter "Words as numbers" of the lesson "Inside a real model"."""

from llmviz.course.document import beside
from llmviz.course.ui import codec

words = beside(__file__)

PARAMS = [
    codec.text("sumplus", "king", 40),
    codec.text("summinus", "man", 40),
    codec.text("sumother", "woman", 40),
    codec.text("nearword", "Monday", 40),
]
