"""The association test against all permutations, and what taking out a direction leaves."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics.pairwise import cosine_similarity

from llmviz.course.lessons.errors.association import (
    association,
    association_test,
    without_direction,
)


def vectors(seed: int, *shape: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape)


@given(st.integers(0, 10**6))
def test_associations_are_differences_of_mean_cosines(seed):
    words, first, second = vectors(seed, 6, 5), vectors(seed + 1, 3, 5), vectors(seed + 2, 4, 5)
    expected = cosine_similarity(words, first).mean(1) - cosine_similarity(words, second).mean(1)
    assert association(words, (first, second)) == pytest.approx(expected)


@pytest.mark.parametrize("seed", range(5))
def test_the_p_value_is_that_of_all_ways_to_share_the_words_out(seed):
    first, second = vectors(seed, 4, 6) + 0.3, vectors(seed + 50, 4, 6)
    named = (vectors(seed + 100, 5, 6) + 0.5, vectors(seed + 150, 5, 6))
    both = association(np.concatenate([first, second]), named)
    measured = both[:4].sum() - both[4:].sum()
    ways = [
        both[list(chosen)].sum() - np.delete(both, list(chosen)).sum()
        for chosen in combinations(range(8), 4)
    ]
    exact = np.mean(np.array(ways) >= measured - 1e-12)
    found = association_test(first, second, named, permutations=20_000)
    assert found.p_value == pytest.approx(exact, abs=0.015)
    spread = both.std(ddof=1)
    assert found.effect == pytest.approx((both[:4].mean() - both[4:].mean()) / spread)
    turned = association_test(second, first, named)
    assert turned.effect == pytest.approx(-found.effect)


@given(st.integers(0, 10**6))
def test_nothing_is_left_along_a_direction_that_was_taken_out(seed):
    words, direction = vectors(seed, 5, 4), vectors(seed + 1, 4)
    left = without_direction(words, direction)
    assert left @ direction == pytest.approx(np.zeros(5), abs=1e-9)
    across = words - left
    assert np.linalg.matrix_rank(across, tol=1e-9) <= 1


def test_what_cannot_be_compared_is_refused():
    some = vectors(0, 3, 4)
    with pytest.raises(ValueError, match="at least one word"):
        association_test(some[:0], some, (some, some))
    with pytest.raises(ValueError, match="associated alike"):
        association_test(some, some, (some, some))
