"""The glossary: every term that the lessons explain under the pointer, in one list."""

from llmviz.course.document import beside
from llmviz.course.ui import codec
from llmviz.course.ui.contents import Lesson

PARAMS = [codec.text("find", "")]


words = beside(__file__, "lesson")

LESSON = Lesson(
    key="glossary",
    words=words,
    icon=":material/menu_book:",
)
