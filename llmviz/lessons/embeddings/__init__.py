"""The lesson on embeddings: from the number of a token to a vector that training gave a meaning."""

from llmviz.ui.lesson import Chapter, Lesson

LESSON = Lesson(
    key="embeddings",
    title="Tokens to vectors",
    icon=":material/scatter_plot:",
    card="How training gives a meaning to rows of numbers: neighbours, analogies, positions.",
    promise=(
        "A [[token id]] is only a name. The model replaces it with a row of numbers. These numbers "
        "are learned, and learning gives them a meaning. Here you see every number of such a row "
        "and compute how alike two words are. You also watch how words move to their places during "
        "training."
    ),
    needs=(
        "You need to know what a [[token]] is (the lesson “Text to tokens”). The chapters "
        "“Positions” and “In context” also use [[attention]], which has a lesson of its own. Here, "
        "as in the code, counting starts from 0: the first row, column, position, layer or head is "
        "number 0."
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
