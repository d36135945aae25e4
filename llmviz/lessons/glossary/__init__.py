"""The glossary: every term that the lessons explain under the pointer, in one list."""

from llmviz.ui.lesson import Lesson

LESSON = Lesson(
    key="glossary",
    title="Glossary",
    icon=":material/menu_book:",
    card="Every word of the lessons in a sentence or two.",
    promise="Each word of the lessons in a sentence or two.",
)
