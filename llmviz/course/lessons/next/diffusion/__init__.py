"""The chapter "Diffusion" of the lesson "What comes next"."""

from llmviz.course.document import beside
from llmviz.course.ui import codec

words = beside(__file__)

PARAMS = [
    codec.choice("diffsteps", "16", ("1", "2", "4", "8", "16")),
    codec.choice("difforder", "random", ("random", "confident")),
    codec.integer("diffdraw", 7, 0, 99),
    codec.flag("pairsown", False),
]
