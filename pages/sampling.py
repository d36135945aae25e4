"""Sampling: from logits to a token, to a text, and what each control does on the way."""

from llmviz.lessons.sampling import LESSON
from llmviz.ui.lesson import show

show(LESSON)
