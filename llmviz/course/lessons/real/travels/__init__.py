"""The chapter "Where a fact travels" of the lesson "Inside a real model"."""

from llmviz.course.document import beside
from llmviz.course.lessons.real.defaults import FRANCE, ITALY
from llmviz.course.ui import codec

words = beside(__file__)

PARAMS = [
    codec.text("travelsown", FRANCE, 200),
    codec.text("travelsother", ITALY, 200),
    codec.text("travelscell", ""),
]
