"""Words and their roles: counts, stems, lemmas, parts of speech, what layers know, names."""

from llmviz.lessons.language import LESSON
from llmviz.ui.lesson import show

show(LESSON)
