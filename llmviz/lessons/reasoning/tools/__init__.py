"""The chapter "A tool that computes" of the lesson "Rewards and reasoning"."""

from llmviz.document import beside

words = beside(__file__)
