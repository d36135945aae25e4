"""The whole machine on the learner's own sentence."""

from llmviz.course.document import beside
from llmviz.course.ui.contents import Lesson

words = beside(__file__, "lesson")

LESSON = Lesson(
    key="home",
    words=words,
    icon=":material/home:",
)
