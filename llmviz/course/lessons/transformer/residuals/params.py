"""The controls of the chapter "Norms and shortcuts", as its links write them."""

from dataclasses import replace

from llmviz.course.lessons.transformer.depth import DEEPEST
from llmviz.course.lessons.transformer.residuals import words
from llmviz.course.ui import codec

PARAMS = [
    replace(codec.choice("deepnorm", "pre", list(words.norms)), formerly="stacknorm"),
    codec.flag("shortcut", True),
    replace(codec.integer("deep", 24, 1, DEEPEST), formerly="stack"),
    codec.integer("deepseed", 0, 0, 99),
    codec.choice("which", "norm1", list(words.which)),
    codec.text("normcell", ""),  # the kept cell, "normalized.2.0"
]
