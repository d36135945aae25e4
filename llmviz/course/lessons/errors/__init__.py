"""The lesson "Why is it wrong?": errors of language models, held against a truth that is known."""

from llmviz.course.document import beside
from llmviz.course.ui.contents import Lesson

words = beside(__file__, "lesson")

LESSON = Lesson(
    key="errors",
    words=words,
    icon=":material/troubleshoot:",
    names=("facts", "chance", "memorization", "letters", "people"),
    further=("calibration", "asked", "causes"),
    linked_first="chance",
    needs_engine=True,
    after=("training", "sampling"),
    moved={"heart": "memorization", "sure": "calibration"},
)
