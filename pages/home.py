"""The whole machine on the learner's own sentence."""

from llmviz.course.lessons.home import LESSON
from llmviz.course.ui.lesson import show

show(LESSON)
