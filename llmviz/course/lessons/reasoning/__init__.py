"""The lesson "Rewards and reasoning": what a model gains by thinking first, and by rewards."""

from llmviz.course.document import beside
from llmviz.course.ui.contents import Lesson

words = beside(__file__, "lesson")

LESSON = Lesson(
    key="reasoning",
    words=words,
    icon=":material/psychology:",
    linked_first="think",
    names=(
        "conversation",
        "think",
        "tries",
        "preference",
        "bandit",
        "reinforce",
        "gamed",
        "tools",
        "lookup",
        "distil",
    ),
    needs_engine=True,
    after=("training", "transformer"),
)
