"""Sampling: from logits to a token, to a text, and what each control does on the way."""

from llmviz.course.lessons.sampling import LESSON
from llmviz.course.ui.lesson import show

show(LESSON)
