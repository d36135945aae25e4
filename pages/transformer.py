"""Inside the transformer: the whole machine opened, and what research tools do with it."""

from llmviz.course.lessons.transformer import LESSON
from llmviz.course.ui.lesson import show

show(LESSON)
