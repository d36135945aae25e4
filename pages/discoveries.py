"""Discoveries you can repeat: results about models, trained again and measured."""

from llmviz.course.lessons.discoveries import LESSON
from llmviz.course.ui.lesson import show

show(LESSON)
