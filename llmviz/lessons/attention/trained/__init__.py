"""The chapter "A trained model" of the lesson "Attention"."""

from llmviz.document import beside

words = beside(__file__)
