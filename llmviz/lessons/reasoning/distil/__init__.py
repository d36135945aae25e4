"""The chapter "Distilling" of the lesson "Rewards and reasoning"."""

from llmviz.document import beside

words = beside(__file__)
