"""The lesson on embeddings: from the number of a token to a vector that training gave a meaning."""

from llmviz.document import beside
from llmviz.ui.lesson import Lesson

words = beside(__file__, "lesson")

LESSON = Lesson(
    key="embeddings",
    words=words,
    icon=":material/scatter_plot:",
    after=("tokenization",),
    names=("lookup", "similarity", "word2vec", "maps", "positions", "context"),
    needs_engine=True,
)
