"""Chapter "A conversation is one text": turns as tokens, a template, a small chat model."""

from llmviz.course.document import beside

words = beside(__file__)
