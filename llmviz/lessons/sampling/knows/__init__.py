"""The chapter "What it knows" of the lesson "Sampling"."""

from llmviz.document import beside

words = beside(__file__)
