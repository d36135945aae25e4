"""The glossary: every term that the lessons explain under the pointer, in one list."""

from llmviz.document import beside
from llmviz.ui.lesson import Lesson

words = beside(__file__, "lesson")

LESSON = Lesson(
    key="glossary",
    words=words,
    icon=":material/menu_book:",
)
