"""The chapter "A model of preference" of the lesson "Rewards and reasoning"."""

from llmviz.course.document import beside

words = beside(__file__)
