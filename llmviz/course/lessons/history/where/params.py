"""The controls of the chapter "Where language models stand", as its links write them."""

from llmviz.course.lessons.history.where import words
from llmviz.course.ui import codec

PARAMS = [
    codec.choice("ring", "lm", list(words.rings)),
    codec.integers("goal", [10, 6], 0, 20, 2),
    codec.text("pad", "", 2_000),
    codec.integer("drawseed", 1, 0, 9_999),
    codec.integer("dice", 1, 0, 9_999),
]
