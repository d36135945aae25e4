"""The controls of the chapter "Lemmas", as its links write them."""

from llmviz.course.lessons.language.lemmas import words
from llmviz.course.ui import codec

PARAMS = [
    codec.choice("decides", "hmm", list(words.taggers)),  # whose tags the lemmas go by
    codec.integer("lword", -1, -1, 99),  # the open word's column; −1: the first with two lemmas
]
