"""The words of the lesson on attention: its head here, each chapter's in its own module.

Names in braces are filled in with live numbers.
"""

from llmviz.ui.lessons.attention.words import (
    cross,
    heads,
    ladder,
    lookup,
    masks,
    matrices,
    opening,
    scale,
    sources,
    trained,
    twins,
    why,
)

__all__ = [
    "cross",
    "heads",
    "ladder",
    "lookup",
    "masks",
    "matrices",
    "opening",
    "scale",
    "sources",
    "trained",
    "twins",
    "why",
]

TITLE = "Attention"
PROMISE = (
    "Every token looks back at the others and takes from them what it needs. At the end you will "
    "have seen every number of that step, changed some, broken it on purpose, and watched the "
    "[[head|heads]] of a trained model at work on your own sentence."
)
LOADING = "Loading torch and the models …"
ENGINE_FAILED = "torch could not be loaded: {problem}"
CHAPTERS = {
    "why": "Why",
    "steps": "Step by step",
    "masks": "Masks",
    "scale": "Why ÷√d",
    "heads": "Heads",
    "trained": "A trained model",
}

# What several chapters say.
WHO_ASKS = "who asks"
WHO_IS_ASKED = "who is asked"
VIEW_ROUNDED = "Weights travel in steps of 1/255; lines below 2 % are left out until you point."
HEAD_NAME = "layer {layer}, head {head}"
