"""Chapter "Many requests"."""

from llmviz.document import beside

words = beside(__file__)
