"""What several chapters of the lesson share: matrices."""

from llmviz.document import beside

words = beside(__file__, "matrices")
