"""The chapter "What it knows" of the lesson "Inside a real model"."""

from llmviz.course.document import beside
from llmviz.course.ui import codec

words = beside(__file__)

COUNTRY = "Australia"
PARAMS = [
    codec.text("knowsland", COUNTRY, 60),
    codec.choice("knowsway", "shown", ("shown", "alone")),
]
