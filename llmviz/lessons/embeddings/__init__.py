"""Embeddings: from the number of a token to a vector that means something."""

from llmviz.ui.lesson import Chapter, Lesson

LESSON = Lesson(
    key="embeddings",
    title="Tokens to vectors",
    icon=":material/scatter_plot:",
    card="Rows of a table that come to mean something: neighbours, analogies, positions.",
    headline="Tokens to vectors",
    promise=(
        "A [[token id]] is only a name. The model swaps it for a row of numbers, and those "
        "numbers come to mean something because they were learned. At the end you will have "
        "seen every number of that swap, worked out how alike two words are, and watched "
        "words find their places."
    ),
    chapters=[
        Chapter("lookup", "The table"),
        Chapter("similarity", "How alike"),
        Chapter("word2vec", "Word2vec"),
        Chapter("maps", "Maps"),
        Chapter("positions", "Positions"),
        Chapter("context", "In context"),
    ],
    needs_engine=True,
)
