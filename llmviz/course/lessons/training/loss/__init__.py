"""The chapter "What the loss is" of the lesson "Training"."""

from llmviz.course.document import beside

words = beside(__file__)
