"""Sampling: from logits to a token, to a text, and what each control does on the way."""

from llmviz.course.document import beside
from llmviz.course.ui.contents import Lesson

words = beside(__file__, "lesson")

LESSON = Lesson(
    key="sampling",
    words=words,
    icon=":material/casino:",
    after=("tokenization",),
    names=("loop", "temperature", "dice", "pipeline", "writing"),
    further=("knows", "beam"),
    linked_first="pipeline",
    moved={"compare": "writing#lanes"},
)
