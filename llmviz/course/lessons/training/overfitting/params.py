"""The controls of the chapter "When it goes wrong", as its links write them."""

from llmviz.course.ui import codec
from llmviz.training.experiments import EXPERIMENTS

PARAMS = [
    codec.choice("failing", "heart", list(EXPERIMENTS)),
    codec.flag("failog", False),
    codec.integer("by_heart", -1, -1, 1_000_000),  # a step with a sample; −1: the last
]
