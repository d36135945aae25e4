"""The chapter "By heart" of the lesson "Inside a real model"."""

from llmviz.course.document import beside
from llmviz.course.lessons.real.defaults import STAR
from llmviz.course.ui import codec

words = beside(__file__)

PARAMS = [
    codec.choice("heartway", "famous", ("famous", "changed")),
    codec.text("hearttext", STAR, 400),
]
