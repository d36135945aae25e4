"""Discoveries you can repeat: results about models, trained again and measured."""

from llmviz.lessons.discoveries import LESSON
from llmviz.ui.lesson import show

show(LESSON)
