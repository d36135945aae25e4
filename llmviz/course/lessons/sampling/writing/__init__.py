"""The chapter "Writing" of the lesson "Sampling"."""

from llmviz.course.document import beside
from llmviz.course.lessons.sampling import params, texts
from llmviz.course.ui import codec

words = beside(__file__)

LANES = {"A": (0.0, 1.0), "B": (1.0, 0.9), "C": (1.8, 1.0)}  # temperature, top-p

PARAMS = [
    codec.integer("written", 30, 0, params.MOST_TOKENS),  # tokens of the trunk
    texts.forks_param("ways"),
    codec.integer("way", 0, 0, texts.MOST_WAYS),
    codec.integer("length", 60, 5, params.MOST_TOKENS),
    *(codec.number(f"t{name}", temperature, 0.0, 3.0) for name, (temperature, _) in LANES.items()),
    *(codec.number(f"p{name}", top_p, 0.05, 1.0) for name, (_, top_p) in LANES.items()),
    *(params.optional_k(f"k{name}") for name in LANES),
]
