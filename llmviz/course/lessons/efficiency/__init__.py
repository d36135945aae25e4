"""Fast and small: what it takes to train and to serve a model for many people."""

from llmviz.course.document import beside
from llmviz.course.ui import codec
from llmviz.course.ui.contents import Lesson

TEXT = "Once Anna and Samir met at the market. Then"

PARAMS = [
    codec.text("text", TEXT, codec.MOST_OF_A_TEXT, shared=True),
]


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
