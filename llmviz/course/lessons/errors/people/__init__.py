"""The chapter "What the text says about people" of the lesson "Why is it wrong?"."""

from llmviz.corpus.leaning import LEANS
from llmviz.course.document import beside
from llmviz.course.lessons.errors.read_leaning import SEEDS
from llmviz.course.ui import codec

words = beside(__file__)

PARAMS = [
    codec.choice("lean", str(LEANS[-1]), [str(lean) for lean in LEANS]),
    codec.integer("leantext", 0, 0, len(SEEDS) - 1),
    codec.number("leantemperature", 0.5, 0.0, 2.0),
    codec.choice("leantaken", "all", ["all", "jobs"]),
]
