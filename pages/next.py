"""What comes next: questions of today, each held against a known truth."""

from llmviz.course.lessons.next import LESSON
from llmviz.course.ui.lesson import show

show(LESSON)
