"""The chapter "Bytes" of the lesson "Text to tokens"."""

from llmviz.document import beside

words = beside(__file__)
