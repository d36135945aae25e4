"""The controls of the chapter "Right, wrong, and cannot know", as its links write them."""

from llmviz.course.lessons.errors.chance import words
from llmviz.course.ui import codec

PARAMS = [
    codec.choice("part_of", "missed", list(words.parts)),
    codec.integer("token", -1, -1, 10_000),  # the opened one; −1: where the loss is highest
    codec.integer("throw", 1, 1, 9_999),  # seed of the tokens that are drawn again
    codec.flag("measured", False),
]
