"""The chapter "Side by side" of the lesson "Sampling"."""

from llmviz.course.document import beside

words = beside(__file__)
