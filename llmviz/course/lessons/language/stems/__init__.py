"""The chapter "Stems and lemmas" of the lesson "Words and their roles"."""

from llmviz.course.document import beside
from llmviz.course.ui import codec

words = beside(__file__)

PARAMS = [
    codec.text("forms", words.forms_default, 2_000),
    codec.text("rule", ""),  # the open cell, "column.row"; none: the first rule that fired
    codec.choice("decides", "hmm", list(words.taggers)),  # whose tags the lemmas go by
    codec.integer("lword", -1, -1, 99),  # the open word's column; −1: the first with two lemmas
]
