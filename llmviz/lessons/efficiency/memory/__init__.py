"""Chapter "Training memory"."""

from llmviz.document import beside

words = beside(__file__)
