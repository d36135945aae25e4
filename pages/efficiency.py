"""Fast and small: what it takes to train and to serve a model for many people."""

from llmviz.course.lessons.efficiency import LESSON
from llmviz.course.ui.lesson import show

show(LESSON)
