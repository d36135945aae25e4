"""The whole machine on the learner's own sentence."""

from llmviz.lessons.home import LESSON
from llmviz.ui.lesson import show

show(LESSON)
