"""The chapter "When it goes wrong" of the lesson "Training"."""

from llmviz.course.document import beside
from llmviz.course.ui import codec
from llmviz.training.mistakes import EXPERIMENTS

words = beside(__file__)

PARAMS = [
    codec.choice("failing", "heart", list(EXPERIMENTS)),
    codec.flag("failog", False),
    codec.integer("by_heart", -1, -1, 1_000_000),  # a step with a sample; −1: the last
]
