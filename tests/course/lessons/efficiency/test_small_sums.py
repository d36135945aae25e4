"""Sums in each format: against torch's and NumPy's own sums, and their true value."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as some

from llmviz.course.lessons.efficiency.bits.small_sums import ADDED_IN, running_sums
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
    one = running_sums(1.0, 0.001, 100)["bfloat16"]
    assert one.stands_from == 0 and (one.running == 1.0).all()
    assert one.pairwise > 1.05  # in pairs the small ones meet each other first
    assert torch.finfo(torch.bfloat16).eps / 2 > 0.001


def test_a_number_that_the_format_holds_as_0_leaves_the_sum_as_it_was():
    one = running_sums(1.0, 0.0001, 8)["float8_e4m3"]
    assert one.small == 0 and one.stands_from == 0


def test_a_sum_that_grows_to_the_end_does_not_stand_still():
    one = running_sums(1.0, 0.5, 4)["float32"]
    assert one.stands_from is None
    assert one.running.tolist() == one.exact.tolist() == [1.0, 1.5, 2.0, 2.5, 3.0]
    assert one.pairwise == 3.0


@pytest.mark.parametrize("n", [1, 2, 3, 8, 21])
def test_a_sum_of_whole_numbers_is_exact_either_way(n):
    for name in ADDED_IN:
        one = running_sums(1.0, 0.25, n)[name]
        if name in ("float32", "float16"):
            assert one.running[-1] == one.pairwise == 1 + n / 4


def test_no_addition_is_refused():
    with pytest.raises(ValueError, match="at least one number must be added; got n=0"):
        running_sums(1.0, 1.0, 0)
