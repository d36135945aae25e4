"""The lesson "Why is it wrong?": chance, missing knowledge, memory and bias, measured."""

from llmviz.document import beside
from llmviz.ui.lesson import Lesson

words = beside(__file__, "lesson")

LESSON = Lesson(
    key="errors",
    icon=":material/troubleshoot:",
    words=words,
    names=("facts", "heart", "people"),
)
