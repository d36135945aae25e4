"""The chapter "Units" of the lesson "Inside the transformer"."""

from llmviz.course.document import beside
from llmviz.course.ui import codec

words = beside(__file__)

PARAMS = [
    codec.integer("unitlayer", -1, -1, 1_000),  # -1: one in the middle
    codec.integer("unit", -1, -1, 131_072),  # -1: one that fires seldom and strongly
    codec.choice("bend", "own", list(words.bends)),
]
