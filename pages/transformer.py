"""Inside the transformer: the whole machine opened, and what research tools do with it."""

from llmviz.lessons.transformer import LESSON
from llmviz.ui.lesson import show

show(LESSON)
