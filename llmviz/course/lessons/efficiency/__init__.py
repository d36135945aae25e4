"""Fast and small: what it takes to train and to serve a model for many people."""

from llmviz.course.document import beside
from llmviz.course.ui.contents import Lesson

words = beside(__file__, "lesson")

LESSON = Lesson(
    key="efficiency",
    linked_first="bits",
    words=words,
    icon=":material/speed:",
    names=("quantization", "cache", "serving"),
    further=("bits", "speculative", "flash", "memory", "parallel", "systems"),
    needs_engine=True,
    after=("attention", "transformer", "sampling", "training"),
    moved={"guess": "speculative"},
)
