"""Why is it wrong? Errors of language models, held against a truth that is known."""

from llmviz.course.lessons.errors import LESSON
from llmviz.course.ui.lesson import show

show(LESSON)
