"""The chapter "Descent" of the lesson "Training"."""

from llmviz.document import beside

words = beside(__file__)
