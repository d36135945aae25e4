"""The chapter "Counting" of the lesson "From counts to GPT"."""

from llmviz.course.document import beside
from llmviz.course.ui import codec

words = beside(__file__)

STEPS = 200  # of the network
LONGEST = 6  # letters of context

PARAMS = [
    codec.choice("count", "dice", list(words.parts), moved={"pairs": "dice"}),
    codec.text("paircell", ""),
    codec.integer("throw", 4, 0, 9_999),
    codec.integer("letter", 1, 1, 30),
    codec.integer("learnstep", -1, -1, STEPS),  # −1: the last
    codec.integer("back", LONGEST, 1, LONGEST),
]
