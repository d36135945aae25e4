"""The controls of the chapter "In context", as its links write them."""

from llmviz.course.lessons.embeddings.context import words
from llmviz.course.ui import codec

FIRST_EXAMPLE = next(iter(words.examples.values()))

PARAMS = [
    codec.text("ctxword", FIRST_EXAMPLE[0]),
    codec.text("ctx1", FIRST_EXAMPLE[1], 1_000),
    codec.text("ctx2", FIRST_EXAMPLE[2], 1_000),
    codec.integer("at1", -1, -1, 100_000),  # -1: where the word stands first
    codec.integer("at2", -1, -1, 100_000),
]
