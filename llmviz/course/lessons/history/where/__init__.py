"""The chapter "Where language models stand" of the lesson "From counts to GPT"."""

from llmviz.course.document import beside
from llmviz.course.ui import codec

words = beside(__file__)

PARAMS = [
    codec.choice("ring", "lm", list(words.rings)),
    codec.integers("goal", [10, 6], 0, 20, 2),
    codec.text("pad", "", 2_000),
    codec.integer("drawseed", 1, 0, 9_999),
    codec.integer("dice", 1, 0, 9_999),
]
