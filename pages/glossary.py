"""The glossary: every term that the lessons explain under the pointer, in one list."""

from llmviz.lessons.glossary import LESSON
from llmviz.ui.lesson import show

show(LESSON)
