"""Two short tests for the course: one before it, one after it."""

from llmviz.course.document import beside
from llmviz.course.ui.contents import Lesson

words = beside(__file__, "lesson")

LESSON = Lesson(
    key="before_after",
    words=words,
    icon=":material/checklist:",
    needs_engine=True,
)
