"""The lesson "Rewards and reasoning": what a model gains by thinking first, and by rewards."""

from llmviz.document import beside
from llmviz.ui.lesson import Lesson

words = beside(__file__, "lesson")

LESSON = Lesson(
    key="reasoning",
    words=words,
    icon=":material/psychology:",
    names=("think", "tries", "bandit", "reinforce", "gamed"),
    needs_engine=True,
    after=("training", "transformer"),
)
