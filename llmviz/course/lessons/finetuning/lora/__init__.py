"""The chapter "LoRA" of the lesson "From a base model to a helper"."""

from llmviz.course.document import beside

words = beside(__file__)
