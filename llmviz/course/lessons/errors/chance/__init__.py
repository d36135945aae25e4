"""The chapter "Right, wrong, and cannot know" of the lesson "Why is it wrong?"."""

from llmviz.course.document import beside
from llmviz.course.ui import codec

words = beside(__file__)

PARAMS = [
    codec.choice("part_of", "missed", list(words.parts)),
    codec.integer("token", -1, -1, 10_000),  # the opened one; −1: where the loss is highest
    codec.integer("throw", 1, 1, 9_999),  # seed of the tokens that are drawn again
    codec.flag("measured", False),
]
