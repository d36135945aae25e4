"""The controls of the chapter "The table", as its links write them."""

from llmviz.course.ui import codec

PARAMS = [
    codec.integer("column", 0, 0, 100_000),  # the first of the columns that are drawn
    codec.text("cell", ""),
    codec.integer("deal", 0, 0, 999_999),  # 0: the ids as they are
]
