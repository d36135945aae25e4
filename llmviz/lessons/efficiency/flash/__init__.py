"""Chapter "Flash attention"."""

from llmviz.document import beside

words = beside(__file__)
