"""Two short tests for the course: one before it, one after it."""

from llmviz.course.lessons.before_after import LESSON
from llmviz.course.ui.lesson import show

show(LESSON)
