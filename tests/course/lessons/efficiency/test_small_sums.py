"""Sums in each format: against torch's and NumPy's own sums, and their true value."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as some

from llmviz.course.lessons.efficiency.bits.small_sums import running_sums
from llmviz.quantization.formats import FORMATS

numbers = some.floats(2.0**-10, 2.0**10)


@settings(deadline=None, max_examples=40)
@given(numbers, numbers, some.integers(1, 60))
def test_each_addition_is_the_exact_sum_rounded_once(large, small, n):
    """Of two numbers of a format, in float64, where their sum is exact."""
    for name, one in running_sums(large, small, n).items():
        format = FORMATS[name]
        total = float(format.round(large))
        assert one.running[0] == one.large == total
        assert one.small == float(format.round(small))
        for sum_so_far in one.running[1:]:
            total = float(format.round(total + one.small))
            assert sum_so_far == total


@pytest.mark.parametrize("name", ["float32", "float16"])
def test_the_sum_one_by_one_is_that_of_numpy(name):
    kind = np.dtype(name).type
    given_numbers = np.array([256.0, *[0.1] * 1000], dtype=kind)
    theirs = np.add.accumulate(given_numbers, dtype=kind)
    ours = running_sums(256.0, 0.1, 1000)[name]
    np.testing.assert_array_equal(ours.running, theirs.astype(np.float64))


def test_bfloat16_stands_still_where_the_small_number_is_below_half_the_distance():
    assert (running_sums(1.0, 0.001, 100)["bfloat16"].running == 1.0).all()
    assert torch.finfo(torch.bfloat16).eps / 2 > 0.001


def test_no_addition_is_refused():
    with pytest.raises(ValueError, match="at least one number must be added; got n=0"):
        running_sums(1.0, 1.0, 0)
