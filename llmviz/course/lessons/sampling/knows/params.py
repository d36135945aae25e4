"""The controls of the chapter "What it knows", as its links write them."""

from llmviz.corpus.probes import PROBES
from llmviz.course.lessons.sampling.knows import model as probe_chances
from llmviz.course.ui import codec

PARAMS = [
    codec.choice("rule", "capitals", list(PROBES)),
    codec.integer("example", 1, 1, probe_chances.EXAMPLES),
    codec.number("heat", 1.0, 0.0, probe_chances.TEMPERATURES[-1]),
]
