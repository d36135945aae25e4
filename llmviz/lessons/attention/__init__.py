"""Attention: built up step by step, broken on purpose, and watched in trained models."""

from llmviz.ui.lesson import Chapter, Lesson

LESSON = Lesson(
    key="attention",
    title="Attention",
    icon=":material/hub:",
    card="Queries, keys and values, cell by cell, and what each head of a trained model looks at.",
    headline="Attention",
    promise=(
        "Every token looks back at the others and takes from them what it needs. At the end "
        "you will have seen every number of that step, changed some, broken it on purpose, "
        "and watched the [[head|heads]] of a trained model at work on your own sentence."
    ),
    chapters=[
        Chapter("why", "Why"),
        Chapter("steps", "Step by step"),
        Chapter("masks", "Masks"),
        Chapter("scale", "Why ÷√d"),
        Chapter("heads", "Heads"),
        Chapter("trained", "A trained model"),
    ],
    needs_engine=True,
)
