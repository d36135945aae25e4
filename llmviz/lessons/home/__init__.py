"""The whole machine on the learner's own sentence."""

from llmviz.document import beside
from llmviz.ui.lesson import Lesson

words = beside(__file__, "lesson")

LESSON = Lesson(
    key="home",
    words=words,
    icon=":material/home:",
)
