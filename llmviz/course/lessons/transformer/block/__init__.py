"""The chapter "One block, opened" of the lesson "Inside the transformer"."""

from llmviz.course.document import beside

words = beside(__file__)
