"""Rewards and reasoning: what steps before the answer are for."""

from llmviz.lessons.reasoning import LESSON
from llmviz.ui.lesson import show

show(LESSON)
