"""The chapter "Parts of speech" of the lesson "Words and their roles"."""

from llmviz.course.document import beside
from llmviz.course.ui import codec

words = beside(__file__)

STORIES = 50  # that can be chosen

PARAMS = [
    codec.integer("which", 1, 1, 999),  # the sentence whose lattice is drawn
    codec.integer("column", -1, -1, 99),  # the lattice's step; −1: the last
    codec.text("cell", ""),  # its open cell, "word.tag"; none: the last of the best way
    codec.choice("table", "transition", list(words.table_names)),
    codec.choice("smooth", "0.01", list(words.smoothings)),
    codec.integer("tstage", 1, 0, 1),  # counts, or probabilities
    codec.text("tcell", ""),  # the open cell of the tables
    codec.choice("read", "story", list(words.sources)),
    codec.integer("story", 1, 1, STORIES),
    codec.text("changed", "", 2_000),  # the learner's tags, "3.O,5.B-DAY"
    codec.integer("nword", -1, -1, 99),  # the word whose tag is open; −1: none
]
