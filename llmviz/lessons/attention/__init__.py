"""Attention: built up step by step, broken on purpose, and watched in trained models."""

from llmviz.ui.lesson import Chapter, Lesson

LESSON = Lesson(
    key="attention",
    title="Attention",
    icon=":material/hub:",
    card="Queries, keys and values, cell by cell, and what each head of a trained model looks at.",
    promise=(
        "With attention, each token takes a share of the tokens that it may look at. In this "
        "lesson you see every number of this step. You change some of the numbers, and you make "
        "the usual mistakes on purpose. You also watch the [[head|heads]] of a trained model at "
        "work on your own sentence."
    ),
    needs=(
        "You need to know what a [[token]] is (the lesson “Text to tokens”) and that each token "
        "becomes a vector of numbers (“Tokens to vectors”). You also need to know how a row of a "
        "matrix is multiplied with a column. Here, as in the code, counting starts from 0: tokens, "
        "positions, layers, heads, rows and columns."
    ),
    after=("tokenization", "embeddings"),
    chapters=[
        Chapter("why", "Why", 15),
        Chapter("steps", "Step by step", 40),
        Chapter("masks", "Masks", 30),
        Chapter("scale", "Why ÷√d", 15),
        Chapter("heads", "Heads", 30),
        Chapter("trained", "A trained model", 30),
        Chapter("cross", "Cross-attention", 20),
    ],
    needs_engine=True,
    begins_with={"rung": "simple"},
)
