"""The controls of the chapter "Think first", as its links write them."""

from llmviz.course.lessons.reasoning.chain_of_thought.model import BALL, SUMS
from llmviz.course.lessons.reasoning.parity_texts import SLOTS
from llmviz.course.ui import codec

PARAMS = [
    codec.text("thinkbits", "1011001110001101", SLOTS),
    codec.integer("thinkstep", 0, 0, SLOTS),
    codec.choice("thinktask", BALL, [BALL, SUMS]),
]
