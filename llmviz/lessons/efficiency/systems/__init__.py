"""Chapter "Which system does what"."""

from llmviz.document import beside

words = beside(__file__)
