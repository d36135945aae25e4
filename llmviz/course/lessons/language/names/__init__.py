"""The chapter "Names" of the lesson "Words and their roles"."""

from llmviz.course.document import beside
from llmviz.course.ui import codec

words = beside(__file__)

STORIES = 50  # that can be chosen

PARAMS = [
    codec.choice("read", "story", list(words.sources)),
    codec.integer("story", 1, 1, STORIES),
    codec.text("changed", "", 2_000),  # the learner's tags, "3.O,5.B-DAY"
    codec.integer("nword", -1, -1, 99),  # the word that is open; −1: none
]
