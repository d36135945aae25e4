"""Fast and small: what it takes to train and to serve a model for many people."""

from llmviz.lessons.efficiency import LESSON
from llmviz.ui.lesson import show

show(LESSON)
