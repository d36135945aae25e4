"""The lesson "What comes next": questions of today, each held against a truth that is known."""

from llmviz.course.document import beside
from llmviz.course.ui.contents import Lesson

words = beside(__file__, "lesson")

LESSON = Lesson(
    key="next",
    words=words,
    icon=":material/explore:",
    names=("language", "diffusion", "memory", "experts", "watermark", "longer"),
    needs_engine=True,
    after=("sampling", "training"),
)
