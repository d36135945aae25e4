"""Chapter "The cache"."""

from llmviz.document import beside

words = beside(__file__)
