"""The controls of the chapter "Side by side", as its links write them."""

from llmviz.course.lessons.sampling import params
from llmviz.course.ui import codec

NAMES = ("A", "B", "C")

START = {"A": (0.0, 1.0), "B": (1.0, 0.9), "C": (1.8, 1.0)}  # temperature, top-p

PARAMS = [
    codec.integer("length", 60, 5, params.MOST_TOKENS),
    *(codec.number(f"t{name}", START[name][0], 0.0, 3.0) for name in NAMES),
    *(codec.number(f"p{name}", START[name][1], 0.05, 1.0) for name in NAMES),
    *(params.optional_k(f"k{name}") for name in NAMES),
]
