"""Text to tokens: one text, cut, compared, learned from, spelled in bytes, and windowed."""

from llmviz.course.lessons.tokenization import LESSON
from llmviz.course.ui.lesson import show

show(LESSON)
