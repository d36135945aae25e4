"""Chapter "Many machines"."""

from llmviz.course.document import beside
from llmviz.course.ui import codec

words = beside(__file__)

PARAMS = [
    codec.choice("split", "data", list(words.methods)),
    codec.choice("processes", "4", list(words.processes_of)),
    codec.choice("micro", "4", ["1", "2", "4", "8"]),
    codec.flag("runhere", False),
    codec.choice("fleetmodel", "gpt3", list(words.paper_presets)),
    codec.choice("fleetkind", "a100", list(words.paper_gpus_known)),
    codec.number("fleetbillions", 175.0, 0.01, 1e5),
    codec.number("fleettokens", 300.0, 0.01, 1e6),
    codec.integer("fleetgpus", 1024, 1, 1_000_000),
    codec.number("fleetbatch", 3.2, 0.001, 1e4),
    codec.number("fleetpeak", 312.0, 0.1, 1e6),
    codec.number("fleetuse", 45.0, 0.1, 100.0),
    codec.number("fleetmemory", 80.0, 0.1, 1e5),
    codec.number("fleetband", 25.0, 0.01, 1e5),
    codec.flag("fleettwice", True),
]
