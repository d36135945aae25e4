"""The words of the lesson on sampling: its head here, each chapter's in its own module."""

from llmviz.ui.lessons.sampling.words import (
    beam,
    compare,
    dice,
    exhaustive,
    knows,
    pipeline,
    prompt,
    temperature,
    writing,
)

__all__ = [
    "beam",
    "compare",
    "dice",
    "exhaustive",
    "knows",
    "pipeline",
    "prompt",
    "temperature",
    "writing",
]

TITLE = "From logits to text"
PROMISE = (
    "A language model does not choose words. It gives every token of its [[vocabulary]] a number, "
    "and a few lines of code around it, with a random number, make a text of that. Here you turn "
    "each of these knobs on a real model and see what it cuts, what it keeps and what is drawn."
)
CHAPTERS = {
    "pipeline": "Logits to a token",
    "dice": "The dice",
    "writing": "Writing",
    "compare": "Side by side",
    "temperature": "Temperature",
    "beam": "Beam search",
    "knows": "What it knows",
}

# What several chapters say.
RESET = "Reset the steps"
SEED = "Seed"
TEMPERATURE = "Temperature"
STRIP = "Tokens on the strip"
STRIPS = {"probability": "most probable first", "id": "by token id"}
IN_FORCE = "Settings from the first chapter: {settings}."
PLAIN = "none, the model's own distribution"
