"""Inside a real model: thirteen things to see and switch off in a model that people download."""

from llmviz.course.document import beside
from llmviz.course.ui.contents import Lesson

words = beside(__file__, "lesson")

LESSON = Lesson(
    key="real",
    words=words,
    icon=":material/visibility:",
    after=("tokenization", "attention"),
    names=(
        "knows",
        "travels",
        "carrier",
        "meanings",
        "examples",
        "first",
        "copies",
        "heart",
        "people",
        "assistant",
        "bits",
        "teach",
        "yesterday",
    ),
)
