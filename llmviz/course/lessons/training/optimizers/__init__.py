"""The chapter "Optimizers" of the lesson "Training"."""

from llmviz.course.document import beside

words = beside(__file__)
