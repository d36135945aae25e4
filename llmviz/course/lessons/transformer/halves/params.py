"""The controls of the chapter "Two halves", as its links write them."""

from llmviz.course.lessons.transformer.halves import words
from llmviz.course.ui import codec

PARAMS = [
    codec.text("sentence", words.sentence, 1_000),
    codec.integer("halfstep", 0, 0, 1_000),  # words written; 0: only the encoder has worked
    codec.integer("halfhead", -1, -1, 1_000),  # -1: the head that looks at the right words most
    codec.choice("translator", "pairs-rnn", list(words.translators)),
]
