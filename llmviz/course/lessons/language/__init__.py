"""Words and their roles: counts, stems, lemmas, parts of speech, what layers know, names."""

from llmviz.course.document import beside
from llmviz.course.ui.contents import Lesson

words = beside(__file__, "lesson")

LESSON = Lesson(
    key="language",
    words=words,
    icon=":material/abc:",
    after=("transformer",),
    names=(
        "tags",
        "probing",
    ),
    further=(
        "counts",
        "stems",
        "lemmas",
        "names",
    ),
    linked_first="counts",
)
