"""From a base model to a helper: what is done to a model that has learned to write."""

from llmviz.lessons.finetuning import LESSON
from llmviz.ui.lesson import show

show(LESSON)
