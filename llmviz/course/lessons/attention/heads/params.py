"""The controls of chapter "Heads", as its links write them."""

from llmviz.course.lessons.attention.heads import words
from llmviz.course.ui import codec

PARAMS = [
    codec.choice("who", "book", list(words.who)),
    codec.choice("columns", "own", list(words.columns)),
    codec.text("off", "", 5_000),
]
