"""The chapter "Learned by heart" of the lesson "Why is it wrong?"."""

from llmviz.course.document import beside

words = beside(__file__)
