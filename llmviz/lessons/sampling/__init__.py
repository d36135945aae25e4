"""Sampling: from logits to a token, to a text, and what each control does on the way."""

from llmviz.ui.lesson import Chapter, Lesson

LESSON = Lesson(
    key="sampling",
    title="Sampling",
    icon=":material/casino:",
    card="From scores to text: temperature, top-k, top-p, and a tree of other possible texts.",
    headline="From logits to text",
    promise=(
        "A language model does not choose words. It gives every token of its [[vocabulary]] a "
        "number. A few lines of code turn these numbers into probabilities, and a random number "
        "picks one token. Here you change each setting of this code on a real model. You see what "
        "it cuts, what it keeps and what is drawn."
    ),
    after=("tokenization",),
    chapters=[
        Chapter("temperature", "Temperature", 25),
        Chapter("dice", "The dice", 20),
        Chapter("pipeline", "Logits to a token", 40),
        Chapter("writing", "Writing", 20),
        Chapter("compare", "Side by side", 20),
        Chapter("beam", "Beam search", 35),
        Chapter("knows", "What it knows", 20),
    ],
    needs=(
        "You need to know what a [[token]] and its id are (the lesson “Text to tokens”). You also "
        "need to know that a language model computes a number for every token of its vocabulary "
        "(the first page shows how). Powers and e are explained where they are used. Here, draws, "
        "steps, tokens of a text and places in a list are counted from 1. A token's id is a row "
        "number in the tokenizer's table, and the first row is 0."
    ),
    linked_first="pipeline",
)
