"""Draws beside their probabilities: against SciPy's binomial, and against many runs."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from llmviz.course.lessons.sampling import draws


def test_numbers_are_those_of_the_seed_one_by_one():
    generator = torch.Generator().manual_seed(7)
    one_by_one = [torch.rand((), generator=generator, dtype=torch.float64).item() for _ in range(9)]
    assert draws.seed_numbers(7, 9).tolist() == one_by_one


def test_distance_runs_from_0_to_1():
    assert draws.distance(np.array([0.5, 0.5]), np.array([0, 1])) == 0
    assert draws.distance(np.array([1.0, 0.0]), np.array([1, 1])) == 1
    with pytest.raises(ValueError, match="no draws"):
        draws.distance(np.array([1.0]), np.array([], dtype=int))


def test_distances_end_with_that_of_all_draws():
    drawn = np.random.default_rng(0).integers(0, 5, 1000)
    numbers, far = draws.distances(np.full(5, 0.2), drawn)
    assert numbers[0] == 1 and numbers[-1] == 1000 and len(numbers) == len(far) <= 25
    assert far[-1] == draws.distance(np.full(5, 0.2), drawn)
