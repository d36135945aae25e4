"""Chapter "Flash attention"."""

from llmviz.course.document import beside

words = beside(__file__)
