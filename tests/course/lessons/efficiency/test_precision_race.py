"""A training in several precisions: the same start and batches, and what is told of each."""

from __future__ import annotations

import math

import pytest

from llmviz.course.lessons.efficiency.bits.precision_race import (
    WAYS,
    PrecisionEnd,
    PrecisionStep,
    precision_race,
)


def run(ways, steps, shrink=0):
    results = list(precision_race(tuple(ways), steps, shrink))
    found = {way: [one for one in results if one.way == way] for way in ways}
    assert all(isinstance(own[-1], PrecisionEnd) for own in found.values())
    return {way: (own[:-1], own[-1]) for way, own in found.items()}


def test_every_way_takes_turns_from_one_start_and_says_what_it_lost():
    results = list(precision_race(tuple(WAYS), 3))
    order = [one.way for one in results if isinstance(one, PrecisionStep)]
    assert order == list(WAYS) * 3
    first = [one for one in results if isinstance(one, PrecisionStep) and one.step == 1]
    for one in first:  # nothing is learned yet: the uniform guess, in every precision
        assert one.loss == pytest.approx(first[0].loss, abs=5e-3)
        assert one.loss == pytest.approx(math.log(29), abs=0.4)
    steps = [one for one in results if isinstance(one, PrecisionStep)]
    assert all(0 <= one.zero <= 1 and 0 <= one.unchanged <= 1 for one in steps)
    assert [one.problem for one in results if isinstance(one, PrecisionEnd)] == [""] * len(WAYS)
    last = [one for one in steps if one.step == 3]
    assert all(one.held_out is not None for one in last)


def test_where_the_loss_is_small_float16_needs_its_scale():
    found = run(("float32", "float16-scaled", "float16"), 8, shrink=14)
    ends = {way: own[-1] for way, (own, _) in found.items()}
    plain, scaled, bare = (ends[way] for way in ("float32", "float16-scaled", "float16"))
    assert scaled.held_out == pytest.approx(plain.held_out, abs=0.02)
    assert bare.held_out > plain.held_out + 0.1
    assert bare.zero > 0.5 > plain.zero + 0.3


def test_weights_in_16_bits_lose_updates_that_float32_keeps():
    found = run(("bfloat16", "bfloat16-all"), 6)
    kept, lost = (found[way][0] for way in ("bfloat16", "bfloat16-all"))
    for a, b in zip(kept, lost, strict=True):
        assert a.unchanged < b.unchanged


def test_a_smaller_loss_changes_nothing_in_float32():
    plain = run(("float32",), 4)["float32"][0]
    shrunk = run(("float32",), 4, shrink=6)["float32"][0]
    for a, b in zip(plain, shrunk, strict=True):
        assert b.loss == pytest.approx(a.loss, rel=1e-3)


@pytest.mark.parametrize("ways", [(), ("float32", "float32"), ("float64",)])
def test_ways_that_are_none_are_refused(ways):
    with pytest.raises(ValueError, match="the ways must be different ones of float32"):
        next(precision_race(ways, 2))
