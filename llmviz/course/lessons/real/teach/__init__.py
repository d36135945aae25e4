"""The chapter "Teach it your style" of the lesson "Inside a real model"."""

from llmviz.course.document import beside
from llmviz.course.lessons.real.defaults import BEGINNING, LOG
from llmviz.course.ui import codec

words = beside(__file__)

PARAMS = [
    codec.text("teachtext", LOG, 20_000),
    codec.text("teachbegin", BEGINNING, 200),
    codec.flag("teachgo", False),
]
