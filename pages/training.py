"""Training: runs of one's own, what their curves mean, and how weights learn."""

from llmviz.lessons.training import LESSON
from llmviz.ui.lesson import show

show(LESSON)
