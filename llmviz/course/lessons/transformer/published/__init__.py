"""The chapter "Your own model, or GPT-2" of the lesson "Inside the transformer"."""

from llmviz.course.document import beside

words = beside(__file__)
