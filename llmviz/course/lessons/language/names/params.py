"""The controls of the chapter "Names", as its links write them."""

from llmviz.course.lessons.language.names import words
from llmviz.course.ui import codec

STORIES = 50  # that can be chosen

PARAMS = [
    codec.choice("read", "story", list(words.sources)),
    codec.integer("story", 1, 1, STORIES),
    codec.text("changed", "", 2_000),  # the learner's tags, "3.O,5.B-DAY"
    codec.integer("nword", -1, -1, 99),  # the word that is open; −1: none
]
