"""The chapter "What changed since 2017" of the lesson "Inside the transformer"."""

from llmviz.course.document import beside
from llmviz.course.ui import codec

words = beside(__file__)

PARAMS = [
    codec.choice("change", "place", list(words.changes)),
    codec.flag("timed", False),
]
