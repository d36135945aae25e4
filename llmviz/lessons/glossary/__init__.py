"""The glossary: every term that the lessons explain under the pointer, in one list."""

from llmviz.ui.lesson import Lesson

LESSON = Lesson(
    key="glossary",
    title="Glossary",
    icon=":material/menu_book:",
    card="Every term of the lessons, explained in a few sentences.",
    promise="Each term of the lessons, explained in a few sentences.",
)
