"""Sampling: from logits to a token, to a text, and what each control does on the way."""

from llmviz.ui.lesson import Chapter, Lesson

LESSON = Lesson(
    key="sampling",
    title="Sampling",
    icon=":material/casino:",
    card="From scores to text: temperature, top-k, top-p, and the tree of what could have been.",
    headline="From logits to text",
    promise=(
        "A language model does not choose words. It gives every token of its [[vocabulary]] a"
        " number, and a few lines of code around it, with a random number, make a text of "
        "that. Here you turn each of these knobs on a real model and see what it cuts, what "
        "it keeps and what is drawn."
    ),
    chapters=[
        Chapter("pipeline", "Logits to a token"),
        Chapter("dice", "The dice"),
        Chapter("writing", "Writing"),
        Chapter("compare", "Side by side"),
        Chapter("temperature", "Temperature"),
        Chapter("beam", "Beam search"),
        Chapter("knows", "What it knows"),
    ],
)
