"""The chapter "Lemmas" of the lesson "Words and their roles"."""

from llmviz.course.document import beside

words = beside(__file__)
