"""The chapter "Curves" of the lesson "Training"."""

from llmviz.course.document import beside
from llmviz.course.ui import codec
from llmviz.training.curves import AXES, UNITS

words = beside(__file__)

MOST = 20  # runs on one chart
RULE = f"at most {MOST} different runs are needed"

PARAMS = [
    codec.names("runs", [], MOST, RULE),  # which exist is seen when they are read
    codec.names("hide", [], MOST, RULE),  # of them, those that are not drawn just now
    codec.choice("axis", "steps", AXES),
    codec.choice("unit", "nats", UNITS),
    codec.number("mean", 0.8, 0.0, 0.999),
    codec.flag("logx", False),
    codec.flag("logy", False),
    codec.integer("rstep", -1, -1, 1_000_000),  # of the race; −1: the last
]
