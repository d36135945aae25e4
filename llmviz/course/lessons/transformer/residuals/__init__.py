"""The chapter "Norms and shortcuts" of the lesson "Inside the transformer"."""

from llmviz.course.document import beside

words = beside(__file__)
