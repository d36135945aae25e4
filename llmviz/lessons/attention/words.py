"""The words of the lesson on attention: those that chapters share, and each chapter's module.

Names in braces are filled in with live numbers.
"""

from llmviz.lessons.attention.cross import words as cross
from llmviz.lessons.attention.heads import words as heads
from llmviz.lessons.attention.inputs import opening_words as opening
from llmviz.lessons.attention.inputs import words as sources
from llmviz.lessons.attention.masks import mistake_words as twins
from llmviz.lessons.attention.masks import words as masks
from llmviz.lessons.attention.matrices import words as matrices
from llmviz.lessons.attention.scale import words as scale
from llmviz.lessons.attention.steps import words as ladder
from llmviz.lessons.attention.trained import words as trained
from llmviz.lessons.attention.trained.lookup import words as lookup
from llmviz.lessons.attention.why import words as why

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


# What several chapters say.
VIEW_ROUNDED = (
    "Weights are rounded to steps of 1/255 here. Lines below 2 % are hidden until you point at a "
    "token."
)
HEAD_NAME = "layer {layer}, head {head}"
