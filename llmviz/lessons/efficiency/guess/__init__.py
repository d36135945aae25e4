"""Chapter "Guess and check"."""

from llmviz.document import beside

words = beside(__file__)
