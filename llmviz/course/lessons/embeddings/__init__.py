"""The lesson on embeddings: from the number of a token to a vector that training gave a meaning."""

from llmviz.course.document import beside
from llmviz.course.ui.contents import Lesson

words = beside(__file__, "lesson")

LESSON = Lesson(
    key="embeddings",
    words=words,
    icon=":material/scatter_plot:",
    after=("tokenization",),
    names=(
        "lookup",
        "similarity",
        "word2vec",
        "positions",
    ),
    further=("ways", "sums", "maps"),
    gone={"context": "transformer"},
    split={"ways": ("positions", "way"), "sums": ("similarity", "look=list", "look=analogy")},
    needs_engine=True,
)
