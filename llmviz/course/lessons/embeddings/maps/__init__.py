"""The chapter "Maps" of the lesson "Tokens to vectors"."""

from llmviz.course.document import beside

words = beside(__file__)
