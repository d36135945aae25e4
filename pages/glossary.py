"""The glossary: every term that the lessons explain under the pointer, in one list."""

from llmviz.course.lessons.glossary import LESSON
from llmviz.course.ui.lesson import show

show(LESSON)
