"""Whether a graded question has one right answer: as its numbers are written, one stands out."""

from collections.abc import Sequence

from llmviz.course.ui import kit


def stands_out(values: Sequence[float], right: int) -> bool:
    """Whether no other value is written like that at `right`.

    A learner sees rounded numbers: two that look the same are two right answers.

    >>> stands_out([0.501, 0.2], 0), stands_out([0.501, 0.502], 1)
    (True, False)
    """
    own = kit.signed(values[right])
    return all(kit.signed(value) != own for i, value in enumerate(values) if i != right)
