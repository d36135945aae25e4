"""The controls of the chapter "Think first", as its links write them."""

from llmviz.course.ui import codec
from llmviz.study.parity_texts import SLOTS
from llmviz.study.think_tasks import BALL, SUMS

PARAMS = [
    codec.text("thinkbits", "1011001110001101", SLOTS),
    codec.integer("thinkstep", 0, 0, SLOTS),
    codec.choice("thinktask", BALL, [BALL, SUMS]),
]
