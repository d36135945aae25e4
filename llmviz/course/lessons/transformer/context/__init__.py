"""The chapter "In context" of the lesson "Inside the transformer"."""

from dataclasses import replace

from llmviz.course.document import beside
from llmviz.course.ui import codec

words = beside(__file__)

PARAMS = [
    replace(codec.text("ctxcell", ""), formerly="term"),
    codec.text("ctxword", words.first_word),
    codec.text("ctx1", words.stories[0], 1_000),
    codec.text("ctx2", words.stories[1], 1_000),
    codec.integer("at1", -1, -1, 100_000),  # -1: where the word stands first
    codec.integer("at2", -1, -1, 100_000),
]
