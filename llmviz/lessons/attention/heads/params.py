"""The controls of chapter "Heads", as its links write them."""

from llmviz.lessons.attention.heads import words
from llmviz.ui import codec

PARAMS = [
    codec.choice("columns", "own", list(words.columns)),
    codec.text("off", "", 5_000),
]
