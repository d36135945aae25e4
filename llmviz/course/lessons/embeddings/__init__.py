"""The lesson on embeddings: from the number of a token to a vector that training gave a meaning."""

from llmviz.course.document import beside
from llmviz.course.ui import codec
from llmviz.course.ui.contents import Lesson
from llmviz.course.ui.state import LEARNER_TEXT

DEFAULT_MODEL = "tiny-world-gpt"

PARAMS = [
    LEARNER_TEXT,
    codec.text("model", DEFAULT_MODEL),
    codec.text("word", "kitten"),
    codec.text("other", "cat"),
    codec.text("term", ""),  # the kept cell of what is compared
]


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
    further=("ways", "maps"),
    moved={"sums": "similarity#word_sums"},
    gone={"context": "transformer"},
    split={"ways": ("positions", "way")},
    needs_engine=True,
)
