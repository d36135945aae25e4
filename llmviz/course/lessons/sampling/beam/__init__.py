"""The chapter "Beam search" of the lesson "Sampling"."""

from llmviz.course.document import beside

words = beside(__file__)
