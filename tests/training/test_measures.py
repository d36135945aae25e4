"""Two means of a few trainings are told apart only beyond twice the error of their difference."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as some

from llmviz.training.measures import against


@given(some.lists(some.floats(0, 5), min_size=3, max_size=3), some.floats(-2, 2))
def test_losses_are_told_apart_only_beyond_twice_their_error(losses, moved):
    ours, theirs = np.array(losses), np.array(losses) - moved
    error = math.hypot(*[float(ours.std(ddof=1)) / math.sqrt(3)] * 2)
    said = against(ours, theirs)
    if abs(moved) > 2 * error + 1e-9:
        assert said == ("worse" if moved > 0 else "better")
    elif abs(moved) < 2 * error - 1e-9:
        assert said == "same"


def test_trainings_in_pairs_are_told_apart_by_their_differences():
    first, second = [1.0, 2.0, 3.0], [1.1, 2.1, 3.2]
    assert against(first, second) == "same"
    assert against(np.subtract(first, second), np.zeros(3)) == "better"
