"""The chapter "Two halves" of the lesson "Inside the transformer"."""

from llmviz.course.document import beside
from llmviz.course.ui import codec

words = beside(__file__)

PARAMS = [
    codec.text("sentence", words.sentence, 1_000),
    codec.integer("halfstep", 0, 0, 1_000),  # words written; 0: only the encoder has worked
    codec.integer("halfhead", -1, -1, 1_000),  # -1: the head that looks at the right words most
    codec.choice("translator", "pairs-rnn", list(words.translators)),
]
