"""Chapter "Many machines"."""

from llmviz.document import beside

words = beside(__file__)
