"""The lesson on tokens: a text is cut, learned from, written as bytes, and cut into windows."""

from llmviz.course.document import beside
from llmviz.course.ui.contents import Lesson

words = beside(__file__, "lesson")

LESSON = Lesson(
    key="tokenization",
    words=words,
    icon=":material/content_cut:",
    gone={"windows": "training"},
    moved={"vocabulary": "compare#own", "bytes": "compare#spelled", "wordpiece": "merge#wordpiece"},
    names=(
        "cut",
        "compare",
        "learn",
    ),
    further=("merge",),
)
