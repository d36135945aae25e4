"""Chapter "A conversation is one text": turns as tokens, a template, a small chat model."""

from llmviz.document import beside

words = beside(__file__)
