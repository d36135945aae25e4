"""The chapter "It cannot see letters" of the lesson "Why is it wrong?"."""

from llmviz.corpus.letter_questions import ALPHABET, REVERSE, TASKS
from llmviz.course.document import beside
from llmviz.course.ui import codec

words = beside(__file__)

MOST = 40  # letters of the learner's word

PARAMS = [
    codec.text("spelledword", "garage", MOST),
    codec.choice("lettertask", REVERSE, TASKS),
    codec.text("countedword", "aaaafd", MOST),
    codec.choice("countedletter", "a", ALPHABET),
    codec.integer("nevertoken", -1, -1, 1_000_000),  # the chosen token; −1: the first of the list
]
