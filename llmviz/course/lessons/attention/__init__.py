"""Attention: built up step by step, broken on purpose, and watched in trained models."""

from llmviz.course.document import beside
from llmviz.course.ui.contents import Lesson

words = beside(__file__, "lesson")

LESSON = Lesson(
    key="attention",
    words=words,
    icon=":material/hub:",
    after=("tokenization", "embeddings"),
    names=("why", "steps", "masks", "heads", "trained"),
    further=("cross",),
    moved={"scale": "steps#scale"},
    needs_engine=True,
    begins_with={"rung": "simple"},
)
