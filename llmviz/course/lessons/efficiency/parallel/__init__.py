"""Chapter "Many machines"."""

from llmviz.course.document import beside

words = beside(__file__)
