"""From counts to GPT: each kind of language model on the same names."""

from llmviz.lessons.history import LESSON
from llmviz.ui.lesson import show

show(LESSON)
