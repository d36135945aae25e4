"""The lesson "Discoveries you can repeat": results about models, trained again and measured."""

from llmviz.course.document import beside
from llmviz.course.ui.contents import Lesson

words = beside(__file__, "lesson")

LESSON = Lesson(
    key="discoveries",
    words=words,
    icon=":material/experiment:",
    names=(
        "scaling",
        "induction",
        "grokking",
        "superposition",
        "features",
        "steering",
        "circuit",
        "own",
    ),
    needs_engine=True,
    after=("training", "transformer"),
)
