"""The chapter "Norms and shortcuts" of the lesson "Inside the transformer"."""

from dataclasses import replace

from llmviz.course.document import beside
from llmviz.course.lessons.transformer.depth import DEEPEST
from llmviz.course.ui import codec

words = beside(__file__)

PARAMS = [
    replace(codec.choice("deepnorm", "pre", list(words.norms)), formerly="stacknorm"),
    codec.flag("shortcut", True),
    replace(codec.integer("deep", 24, 1, DEEPEST), formerly="stack"),
    codec.integer("deepseed", 0, 0, 99),
    codec.choice("which", "norm1", list(words.which)),
    codec.text("normcell", ""),  # the kept cell, "normalized.2.0"
]
