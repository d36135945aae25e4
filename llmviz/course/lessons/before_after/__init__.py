"""Two short tests for the course: one before it, one after it."""

from llmviz.course.document import beside
from llmviz.course.ui import codec
from llmviz.course.ui.contents import Lesson

BEFORE, AFTER = "before", "after"
PARAMS = [
    codec.choice("when", BEFORE, (BEFORE, AFTER)),
    codec.flag("swapped", False),
]


words = beside(__file__, "lesson")

LESSON = Lesson(
    key="before_after",
    words=words,
    icon=":material/checklist:",
    needs_engine=True,
)
