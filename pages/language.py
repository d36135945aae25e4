"""Words and their roles: counts, stems and lemmas, parts of speech, names, what layers know."""

from llmviz.course.lessons.language import LESSON
from llmviz.course.ui.lesson import show

show(LESSON)
