"""The chapter "More tries" of the lesson "Rewards and reasoning"."""

from llmviz.course.document import beside
from llmviz.course.lessons.reasoning.best_of_n.model import COUNTS
from llmviz.course.ui import codec

words = beside(__file__)

PARAMS = [
    codec.text("trysum", "47+85", 20),
    codec.choice("trycount", "16", [str(count) for count in COUNTS]),
    codec.integer("trydraw", 0, 0, 999),
    codec.choice("trybeam", "4", ["1", "2", "4", "8", "15"]),
]
