"""Attention: built up step by step, broken on purpose, and watched in trained models."""

from llmviz.course.lessons.attention import LESSON
from llmviz.course.ui.lesson import show

show(LESSON)
