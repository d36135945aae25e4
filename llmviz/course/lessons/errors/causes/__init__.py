"""The chapter "Find the cause" of the lesson "Why is it wrong?"."""

from llmviz.course.document import beside
from llmviz.course.ui import codec

words = beside(__file__)

PARAMS = [
    codec.integer("casefile", 1, 1, 9_999),
    codec.integer("case", 1, 1, 10),
]
