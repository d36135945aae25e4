"""The chapter "The race" of the lesson "Training"."""

from llmviz.course.document import beside
from llmviz.course.ui import codec
from llmviz.training.curves import AXES, UNITS
from llmviz.training.permissions import ACTIVE_EACH

words = beside(__file__)

STEPS = (200, 400, 800)


NAMES = [codec.integer("inventing", 1, 0, 9_999)]

PARAMS = [
    codec.choices("who", list(words.models), list(words.models)),
    codec.choice("raxis", "steps", AXES),
    codec.choice("runit", "nats", UNITS),
    codec.integer("rstep", -1, -1, 1_000_000),  # −1: the last
    codec.choices("again", ["names-gru", "names-gpt"], list(words.models), at_most=ACTIVE_EACH),
    codec.integer("asteps", STEPS[0], 1, 10_000),
    *NAMES,
]
