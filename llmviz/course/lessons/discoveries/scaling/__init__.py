"""The chapter "Scaling laws" of the lesson "Discoveries you can repeat"."""

from llmviz.course.document import beside
from llmviz.course.lessons.discoveries.scaling.scaling_fit import ALL, BLOCKS
from llmviz.course.lessons.discoveries.scaling.scaling_runs import AMOUNTS, SIZES
from llmviz.course.ui import codec

words = beside(__file__)

OWN_AMOUNTS = tuple(str(amount) for amount in AMOUNTS[:3])  # what is trained within a minute or so
OWN_SIZES = tuple(str(size.width) for size in SIZES)

PARAMS = [
    codec.choice("counted", ALL, (ALL, BLOCKS)),
    codec.integer("smallest", 0, 0, len(SIZES) - 1),
    codec.integer("shortest", 0, 0, len(AMOUNTS) - 1),
    codec.choice("ownwidth", OWN_SIZES[3], OWN_SIZES),
    codec.choice("ownstories", OWN_AMOUNTS[1], OWN_AMOUNTS),
    codec.integer("scaleseed", 1, 1, 99),
    codec.flag("ownscale", False),
]
