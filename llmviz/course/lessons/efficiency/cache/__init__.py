"""Chapter "The cache"."""

from llmviz.course.document import beside

words = beside(__file__)
