"""The chapter "What it knows" of the lesson "Sampling"."""

from llmviz.corpus.probes import PROBES
from llmviz.course.document import beside
from llmviz.course.lessons.sampling.knows import model as probe_chances
from llmviz.course.ui import codec

words = beside(__file__)

PARAMS = [
    codec.choice("rule", "capitals", list(PROBES)),
    codec.integer("example", 1, 1, probe_chances.EXAMPLES),
    codec.number("heat", 1.0, 0.0, probe_chances.TEMPERATURES[-1]),
]
