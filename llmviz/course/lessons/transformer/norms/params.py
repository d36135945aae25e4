"""The controls of the chapter "Norms and activations", as its links write them."""

from llmviz.course.lessons.transformer.depth import DEEPEST
from llmviz.course.lessons.transformer.norms import words
from llmviz.course.ui import codec

PARAMS = [
    codec.choice("which", "norm1", list(words.which)),
    codec.text("normcell", ""),  # the kept cell, "normalized.2.0"
    codec.integer("stack", 24, 2, DEEPEST),
    codec.choice("stacknorm", "pre", list(words.stack_norms)),
    codec.choice("bend", "own", list(words.bends)),
]
