"""The chapter "Logits to a token" of the lesson "Sampling"."""

from llmviz.course.document import beside

words = beside(__file__)
