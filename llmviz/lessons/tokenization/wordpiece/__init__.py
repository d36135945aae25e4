"""The chapter "WordPiece" of the lesson "Text to tokens"."""

from llmviz.document import beside

words = beside(__file__)
