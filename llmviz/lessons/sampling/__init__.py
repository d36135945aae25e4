"""Sampling: from logits to a token, to a text, and what each control does on the way."""

from llmviz.document import beside
from llmviz.ui.lesson import Lesson

words = beside(__file__, "lesson")

LESSON = Lesson(
    key="sampling",
    words=words,
    icon=":material/casino:",
    after=("tokenization",),
    names=("temperature", "dice", "pipeline", "writing", "compare", "beam", "knows"),
    linked_first="pipeline",
)
