"""The controls of the chapter "Think first", as its links write them."""

from llmviz.course.lessons.reasoning.parity_texts import ORDERS, SLOTS
from llmviz.course.ui import codec

PARAMS = [
    codec.text("thinkbits", "1011001110001101", SLOTS),
    codec.integer("thinkstep", 5, 0, SLOTS),
    codec.choice("thinkorder", ORDERS[0], ORDERS),
]
