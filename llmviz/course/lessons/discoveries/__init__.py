"""The lesson "Discoveries you can repeat": results about models, trained again and measured."""

from llmviz.course.document import beside
from llmviz.course.ui.contents import Lesson

words = beside(__file__, "lesson")

LESSON = Lesson(
    key="discoveries",
    words=words,
    icon=":material/experiment:",
    names=("grokking", "induction", "superposition", "features", "scaling"),
    further=("steering", "circuit", "own"),
    linked_first="scaling",
    needs_engine=True,
    after=("training", "transformer"),
)
