"""Two short tests for the course: one before it, one after it."""

from llmviz.lessons.before_after import LESSON
from llmviz.ui.lesson import show

show(LESSON)
