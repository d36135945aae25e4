"""Attention: built up step by step, broken on purpose, and watched in trained models."""

from llmviz.ui.lesson import Chapter, Lesson

LESSON = Lesson(
    key="attention",
    title="Attention",
    icon=":material/hub:",
    card="Queries, keys and values, cell by cell, and what each head of a trained model looks at.",
    headline="Attention",
    promise=(
        "Every token looks back at the others and takes a share of each. At the end you will have "
        "seen every number of that step, changed some, made the usual mistakes on purpose, and "
        "watched the [[head|heads]] of a trained model at work on your own sentence."
    ),
    needs=(
        "You need to know what a [[token]] is (the lesson “Text to tokens”), that a token becomes "
        "a vector of numbers (“Tokens to vectors”), and how a row of a matrix is multiplied with a "
        "column. Tokens, positions, layers, heads, rows and columns are all counted from 0 here, "
        "as in the code."
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
)
