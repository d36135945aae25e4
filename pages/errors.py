"""Why is it wrong? Chance, missing knowledge, memory and bias, measured."""

from llmviz.lessons.errors import LESSON
from llmviz.ui.lesson import show

show(LESSON)
