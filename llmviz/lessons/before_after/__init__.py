"""Two short tests for the course: one before it, one after it."""

from llmviz.document import beside
from llmviz.ui.lesson import Lesson

words = beside(__file__, "lesson")

LESSON = Lesson(
    key="before_after",
    words=words,
    icon=":material/checklist:",
    needs_engine=True,
)
