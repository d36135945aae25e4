"""The chapter "The first word" of the lesson "Inside a real model"."""

from llmviz.course.document import beside
from llmviz.course.lessons.real.defaults import LIGHTHOUSE
from llmviz.course.ui import codec

words = beside(__file__)

PARAMS = [
    codec.text("firsttext", LIGHTHOUSE, 500),
    codec.text("firsthead", ""),
    codec.choice("firstwindow", "64", ("16", "32", "64", "128")),
]
