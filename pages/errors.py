"""Why is it wrong? Errors of language models, held against a truth that is known."""

from llmviz.lessons.errors import LESSON
from llmviz.ui.lesson import show

show(LESSON)
