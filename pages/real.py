"""Inside a real model: what can be seen and switched off in a model that people download."""

from llmviz.course.lessons.real import LESSON
from llmviz.course.ui.lesson import show

show(LESSON)
