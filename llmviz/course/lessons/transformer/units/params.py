"""The controls of the chapter "Units", as its links write them."""

from llmviz.course.lessons.transformer.units import words
from llmviz.course.ui import codec

PARAMS = [
    codec.integer("unitlayer", -1, -1, 1_000),  # -1: one in the middle
    codec.integer("unit", -1, -1, 131_072),  # -1: one that fires seldom and strongly
    codec.choice("bend", "own", list(words.bends)),
]
