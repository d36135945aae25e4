"""The chapter "Cut" of the lesson "Text to tokens"."""

from llmviz.course.document import beside
from llmviz.course.ui import codec

words = beside(__file__)

PARAMS = [
    codec.flag("special", False),
    codec.integer("token", -1, -1, 100_000),
    codec.text("ids", "", codec.MOST_OF_A_PROMPT),
    codec.choice("table", "text", list(words.table_views)),
    codec.integer("from", 0, 0, 1_000_000),
]
