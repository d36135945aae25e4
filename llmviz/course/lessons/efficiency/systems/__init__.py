"""Chapter "Which system does what"."""

from llmviz.course.document import beside

words = beside(__file__)
