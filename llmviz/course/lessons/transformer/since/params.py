"""The controls of the chapter "What changed since 2017", as its links write them."""

from llmviz.course.lessons.transformer.since import words
from llmviz.course.ui import codec

PARAMS = [
    codec.choice("change", "place", list(words.changes)),
]
