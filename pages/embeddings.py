"""Embeddings: from the number of a token to a vector that means something."""

from llmviz.lessons.embeddings import LESSON
from llmviz.ui.lesson import show

show(LESSON)
