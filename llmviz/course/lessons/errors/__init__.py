"""The lesson "Why is it wrong?": errors of language models, held against a truth that is known."""

from llmviz.course.document import beside
from llmviz.course.ui import codec
from llmviz.course.ui.contents import Lesson
from llmviz.course.ui.state import LEARNER_TEXT

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


PARAMS = [
    LEARNER_TEXT,
    codec.text("story", words.story_default, codec.MOST_OF_A_TEXT),
    codec.integer("nth", 0, 0, 9_999),  # how often another story was asked for
    codec.text("model", ""),  # none: the one with the lowest loss
]
