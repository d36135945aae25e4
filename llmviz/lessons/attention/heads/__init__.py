"""The chapter "Heads" of the lesson "Attention"."""

from llmviz.document import beside

words = beside(__file__)
