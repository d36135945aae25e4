"""The controls of the chapter "What it knows", as its links write them."""

from llmviz.corpus.probes import PROBES
from llmviz.course.ui import codec
from llmviz.study import probe_chances

PARAMS = [
    codec.choice("rule", "capitals", list(PROBES)),
    codec.integer("example", 1, 1, probe_chances.EXAMPLES),
    codec.number("heat", 1.0, 0.0, probe_chances.TEMPERATURES[-1]),
]
