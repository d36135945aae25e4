"""The chapter "Bytes" of the lesson "Text to tokens"."""

from llmviz.course.document import beside
from llmviz.course.ui import codec

words = beside(__file__)

PARAMS = [codec.choice("sample", "all", list(words.samples))]
