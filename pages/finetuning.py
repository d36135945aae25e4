"""From a base model to a helper: what is done to a model that has learned to write."""

from llmviz.course.lessons.finetuning import LESSON
from llmviz.course.ui.lesson import show

show(LESSON)
