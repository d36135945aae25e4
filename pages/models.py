"""The models that are here: their sizes, published ones to import, and what may be deleted."""

from llmviz.course.lessons.models import LESSON
from llmviz.course.ui.lesson import show

show(LESSON)
