"""What several chapters of the lesson share: matrices."""

from llmviz.course.document import beside

words = beside(__file__, "matrices")
