"""The chapter "Heads" of the lesson "Attention"."""

from llmviz.course.document import beside

words = beside(__file__)
