"""The chapter "Heads" of the lesson "Attention"."""

from llmviz.course.document import beside
from llmviz.course.ui import codec

words = beside(__file__)

PARAMS = [
    codec.choice("who", "book", list(words.who)),
    codec.choice("columns", "own", list(words.columns)),
    codec.text("off", "", 5_000),
]
