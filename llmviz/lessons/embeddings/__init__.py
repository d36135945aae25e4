"""The lesson on embeddings: from the number of a token to a vector that training gave a meaning."""

from llmviz.ui.lesson import Chapter, Lesson

LESSON = Lesson(
    key="embeddings",
    title="Tokens to vectors",
    icon=":material/scatter_plot:",
    card="Rows of numbers that training gives a meaning: neighbours, analogies, positions.",
    promise=(
        "A [[token id]] is only a name. The model replaces it by a row of numbers. These numbers "
        "are learned, and that gives them a meaning. Here you see every number of such a row, work "
        "out how alike two words are, and watch words find their places."
    ),
    needs=(
        "You need to know what a [[token]] is: the lesson “Text to tokens” shows it. Nothing else "
        "is needed up to “Maps”; “Positions” and “In context” use what [[attention]] does, which "
        "has a lesson of its own. This lesson counts as the code does: the first row, column, "
        "position, layer or head is number 0."
    ),
    after=("tokenization",),
    chapters=[
        Chapter("lookup", "The table", 25),
        Chapter("similarity", "How alike", 40),
        Chapter("word2vec", "Word2vec", 35),
        Chapter("maps", "Maps", 30),
        Chapter("positions", "Positions", 45),
        Chapter("context", "In context", 20),
    ],
    needs_engine=True,
)
