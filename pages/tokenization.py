"""Text to tokens: one text, cut, compared, learned from, spelled in bytes, and windowed."""

from llmviz.lessons.tokenization import LESSON
from llmviz.ui.lesson import show

show(LESSON)
