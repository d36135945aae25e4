"""The controls that several chapters of the lesson share, as its links write them."""

from llmviz.course.lessons.errors import words
from llmviz.course.ui import codec
from llmviz.course.ui.state import LEARNER_TEXT

PARAMS = [
    LEARNER_TEXT,
    codec.text("story", words.story_default, codec.MOST_OF_A_TEXT),
    codec.integer("nth", 0, 0, 9_999),  # how often another story was asked for
    codec.text("model", ""),  # none: the one with the lowest loss
]
