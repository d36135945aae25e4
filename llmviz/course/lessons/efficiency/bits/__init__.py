"""Chapter "Numbers as bits"."""

from llmviz.course.document import beside

words = beside(__file__)
