"""Attention: built up step by step, broken on purpose, and watched in trained models."""

from llmviz.lessons.attention import LESSON
from llmviz.ui.lesson import show

show(LESSON)
