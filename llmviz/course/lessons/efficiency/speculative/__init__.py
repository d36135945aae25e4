"""Chapter "Guess and check"."""

from llmviz.course.document import beside

words = beside(__file__)
