"""The chapter "A reward and three arms" of the lesson "Rewards and reasoning"."""

from llmviz.course.document import beside

words = beside(__file__)
