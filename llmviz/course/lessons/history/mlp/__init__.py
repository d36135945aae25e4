"""The chapter "MLP" of the lesson "From counts to GPT"."""

from llmviz.course.document import beside

words = beside(__file__)
