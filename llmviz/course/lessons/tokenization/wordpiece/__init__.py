"""The chapter "WordPiece" of the lesson "Text to tokens"."""

from llmviz.course.document import beside

words = beside(__file__)
