"""The controls of the chapter "It cannot see letters", as its links write them."""

from llmviz.corpus.letter_questions import ALPHABET, COUNT, TASKS
from llmviz.course.ui import codec

MOST = 40  # letters of the learner's word

PARAMS = [
    codec.text("spelledword", "garage", MOST),
    codec.choice("lettertask", COUNT, TASKS),
    codec.text("countedword", "dadada", MOST),
    codec.choice("countedletter", "a", ALPHABET),
    codec.integer("nevertoken", -1, -1, 1_000_000),  # the chosen token; −1: the first of the list
]
