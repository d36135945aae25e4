"""The chapter "Descent" of the lesson "Training"."""

from collections.abc import Sequence

from llmviz.course.document import beside
from llmviz.course.ui import codec

words = beside(__file__)

MOST_STEPS = 2_000


def walk(name: str, stops: Sequence[int]) -> list[codec.Param]:
    """Return the controls of a view of descents: each one's rate, the step, whose numbers."""
    return [
        codec.integers(f"{name}_lr", stops, 0, 200),
        codec.integer(f"{name}_at", -1, -1, MOST_STEPS),  # -1: the last
        codec.integer(f"{name}_who", 0, 0, 12),
    ]


PARAMS = walk("one", [16])
