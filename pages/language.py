"""Words and their roles: counts, stems, lemmas, parts of speech, what layers know, names."""

from llmviz.course.lessons.language import LESSON
from llmviz.course.ui.lesson import show

show(LESSON)
