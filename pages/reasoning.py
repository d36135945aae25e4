"""Rewards and reasoning: what steps before the answer are for."""

from llmviz.course.lessons.reasoning import LESSON
from llmviz.course.ui.lesson import show

show(LESSON)
