"""The descents of the lesson: their rates, and paths against the arithmetic of single steps."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from llmviz.course.lessons.training.descent.descents import (
    Rates,
    bigram_descent,
    length_descent,
    points_seen,
    surface_descent,
    vowel_descents,
)
from llmviz.training.optimizers import Hyper

RATES = Rates(0.01, 1.0, 5)


def test_the_rates_rise_by_one_factor_from_end_to_end():
    values = RATES.values()
    ratios = values[1:] / values[:-1]
    assert len(values) == 5 and torch.allclose(ratios, ratios[0].expand(4))
    assert float(values[0]) == pytest.approx(0.01) and float(values[-1]) == pytest.approx(1.0)


def test_the_guessed_length_comes_closer_by_one_share_a_step():
    guess, descent = length_descent(1.0, RATES, 3)
    distance = guess.best - descent.path[..., 0]
    expected = (guess.best - 1.0) * (1 - 2 * RATES.values()[:, None]) ** torch.arange(4)
    assert torch.allclose(distance, expected)


def test_sgd_on_the_bowl_shrinks_each_weight_by_its_own_share():
    descent = surface_descent("bowl", (-2.0, 1.0), "sgd", RATES, 2, Hyper())
    rates = RATES.values()
    assert torch.allclose(descent.path[:, -1, 0], -2.0 * (1 - rates) ** 2)
    assert torch.allclose(descent.path[:, -1, 1], (1 - 2 * rates) ** 2)


def test_the_bigram_is_watched_at_one_weight_and_begins_with_equal_letters():
    descent = bigram_descent("sgd", ("q", "u"), RATES, 2, Hyper())
    assert descent.path.shape == (5, 3, 1)
    assert torch.allclose(descent.losses[:, 0], torch.tensor(27.0).log().double())
    assert (descent.path[:, 1, 0] > 0).all()  # u is frequent after q


def test_every_kind_of_batch_sees_every_letter_in_every_epoch():
    for descent, plan in vowel_descents(4, RATES, 2).values():
        assert sorted(point for batch in plan for point in batch) == sorted([*range(26)] * 2)
        seen = points_seen(plan)
        assert seen[0] == 0 and seen[-1] == 52 and (np.diff(seen) > 0).all()
        assert descent.path.shape[1] == len(seen)
