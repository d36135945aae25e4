"""The chapter "Watermark" of the lesson "What comes next"."""

from llmviz.course.document import beside
from llmviz.course.ui import codec

words = beside(__file__)

MOST_OF_PROMPT = 300  # characters

PARAMS = [
    codec.number("markpush", 3.0, 0, 10),
    codec.number("markshare", 0.25, 0.05, 0.95),
    codec.choice("markheat", "1", ("0.01", "0.02", "0.05", "0.1", "0.3", "1")),
    codec.text("markkey", "7", 20),
    codec.text("markread", "", 20),
    codec.text("markprompt", "In a village by the sea there lived a", MOST_OF_PROMPT),
    codec.flag("markrun", False),
    codec.integer("markdraw", 7, 0, 99),
]
