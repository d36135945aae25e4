"""Embeddings: from the number of a token to a vector that means something."""

from llmviz.course.lessons.embeddings import LESSON
from llmviz.course.ui.lesson import show

show(LESSON)
