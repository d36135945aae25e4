"""From counts to GPT: each kind of language model on the same names."""

from llmviz.course.lessons.history import LESSON
from llmviz.course.ui.lesson import show

show(LESSON)
