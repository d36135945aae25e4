"""The chapter "The table" of the lesson "Tokens to vectors"."""

from llmviz.course.document import beside

words = beside(__file__)
