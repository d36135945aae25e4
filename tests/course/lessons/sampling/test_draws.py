"""Draws beside their probabilities: against SciPy's binomial, and against many runs."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from llmviz.course.lessons.sampling.draws import (
    distance,
    distances,
    expected_distance,
    seed_numbers,
)


def test_numbers_are_those_of_the_seed_one_by_one():
    generator = torch.Generator().manual_seed(7)
    one_by_one = [torch.rand((), generator=generator, dtype=torch.float64).item() for _ in range(9)]
    assert seed_numbers(7, 9).tolist() == one_by_one


@pytest.mark.parametrize("n", [1, 2, 10, 100])
@pytest.mark.parametrize("p", [[1.0], [0.5, 0.5], [0.9, 0.1], [0.6, 0.3, 0.1, 0.0], [0.01] * 100])
def test_expected_distance_is_the_sum_over_all_counts(p, n):
    def mean_deviation(share):  # by the definition: every count with its probability
        chances = np.array([1.0])
        for _ in range(n):
            chances = np.convolve(chances, [1 - share, share])
        return float((chances * np.abs(np.arange(n + 1) / n - share)).sum())

    expected = sum(map(mean_deviation, p)) / 2
    assert expected_distance(np.array(p), n) == pytest.approx(expected, abs=1e-12)


def test_distance_runs_from_0_to_1():
    assert distance(np.array([0.5, 0.5]), np.array([0, 1])) == 0
    assert distance(np.array([1.0, 0.0]), np.array([1, 1])) == 1
    with pytest.raises(ValueError, match="no draws"):
        distance(np.array([1.0]), np.array([], dtype=int))
    with pytest.raises(ValueError, match="1 or more"):
        expected_distance(np.array([1.0]), 0)


def test_distances_end_with_that_of_all_draws():
    drawn = np.random.default_rng(0).integers(0, 5, 1000)
    numbers, far = distances(np.full(5, 0.2), drawn)
    assert numbers[0] == 1 and numbers[-1] == 1000 and len(numbers) == len(far) <= 25
    assert far[-1] == distance(np.full(5, 0.2), drawn)
