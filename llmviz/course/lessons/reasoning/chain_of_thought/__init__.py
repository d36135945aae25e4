"""The chapter "Think first" of the lesson "Rewards and reasoning"."""

from llmviz.course.document import beside
from llmviz.course.lessons.reasoning.parity_texts import ORDERS, SLOTS
from llmviz.course.ui import codec

words = beside(__file__)

PARAMS = [
    codec.text("thinkbits", "1011001110001101", SLOTS),
    codec.integer("thinkstep", 5, 0, SLOTS),
    codec.choice("thinkorder", ORDERS[0], ORDERS),
]
