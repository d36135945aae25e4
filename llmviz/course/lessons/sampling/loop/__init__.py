"""The chapter "Token after token" of the lesson "Sampling"."""

from llmviz.course.components.token_loop.view import STAGES
from llmviz.course.document import beside
from llmviz.course.ui import codec

words = beside(__file__)

ROUNDS = 12  # tokens that are written

PARAMS = [
    codec.flag("reuse", False),  # keys and values are kept in a cache
    codec.integer("moment", len(STAGES) - 1, 0, ROUNDS * len(STAGES) - 1),  # 5 · round + stage
]
