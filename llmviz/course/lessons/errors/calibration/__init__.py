"""The chapter "Is it as sure as it is right?" of the lesson "Why is it wrong?"."""

from llmviz.course.document import beside

words = beside(__file__)
