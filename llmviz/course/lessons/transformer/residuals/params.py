"""The controls of the chapter "Residuals", as its links write them."""

from llmviz.course.lessons.transformer.depth import DEEPEST
from llmviz.course.lessons.transformer.residuals import words
from llmviz.course.ui import codec

PARAMS = [
    codec.integer("deep", 24, 1, DEEPEST),
    codec.choice("deepnorm", "none", list(words.norms)),
    codec.integer("deepseed", 0, 0, 99),
]
