"""The chapter "Beam search" of the lesson "Sampling"."""

from llmviz.document import beside

words = beside(__file__)
