"""The chapter "One step of training" of the lesson "Training"."""

from llmviz.course.document import beside

words = beside(__file__)
