"""Chapter "Numbers as bits"."""

from llmviz.document import beside

words = beside(__file__)
