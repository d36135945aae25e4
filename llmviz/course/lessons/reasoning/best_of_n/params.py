"""The controls of the chapter "More tries", as its links write them."""

from llmviz.course.lessons.reasoning.best_of_n.model import COUNTS
from llmviz.course.ui import codec

PARAMS = [
    codec.text("trysum", "47+85", 20),
    codec.choice("trycount", "16", [str(count) for count in COUNTS]),
    codec.integer("trydraw", 0, 0, 999),
    codec.choice("trybeam", "4", ["1", "2", "4", "8", "15"]),
]
