"""The chapter "What the text says about people" of the lesson "Why is it wrong?"."""

from llmviz.course.document import beside

words = beside(__file__)
