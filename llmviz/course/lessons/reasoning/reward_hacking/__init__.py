"""The chapter "Rewards that are gamed" of the lesson "Rewards and reasoning"."""

from llmviz.course.document import beside

words = beside(__file__)
