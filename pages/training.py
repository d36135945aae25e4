"""Training: runs of one's own, what their curves mean, and how weights learn."""

from llmviz.course.lessons.training import LESSON
from llmviz.course.ui.lesson import show

show(LESSON)
