"""The controls of the chapter "Counting", as its links write them."""

from llmviz.course.lessons.history.counting import words
from llmviz.course.ui import codec

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
