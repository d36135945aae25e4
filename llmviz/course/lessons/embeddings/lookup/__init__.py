"""The chapter "The table" of the lesson "Tokens to vectors"."""

from llmviz.course.document import beside
from llmviz.course.ui import codec

words = beside(__file__)

PARAMS = [
    codec.integer("column", 0, 0, 100_000),  # the first of the columns that are drawn
    codec.text("cell", ""),
    codec.text("beside", "dog"),  # not the pair of the next chapter, whose question it would answer
    codec.integer("deal", 0, 0, 999_999),  # 0: the ids as they are
]
