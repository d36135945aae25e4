"""The chapter "Grokking" of the lesson "Discoveries you can repeat"."""

from llmviz.course.document import beside

words = beside(__file__)
