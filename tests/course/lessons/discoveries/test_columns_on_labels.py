"""F1 of single columns against scikit-learn's, and the choice of column and threshold."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import Ridge
from sklearn.metrics import f1_score

from experiments import _columns_on_labels


@given(st.integers(1, 60), st.integers(1, 5), st.integers(0, 999))
def test_f1_is_that_of_scikit_learn(tokens, labels, seed):
    rng = np.random.default_rng(seed)
    on, wanted = rng.random((2, tokens, labels)) < rng.random(labels)
    known = [f1_score(wanted[:, k], on[:, k], zero_division=0.0) for k in range(labels)]
    assert _columns_on_labels.f1_scores(on, wanted) == pytest.approx(known)


def test_the_choice_is_the_best_of_all_columns_and_thresholds_tried():
    rng = np.random.default_rng(3)
    values = rng.normal(size=(400, 300)).astype(np.float32)
    values[:, 7] = np.maximum(0, values[:, 7])
    wanted = np.stack([values[:, 290] > 1.1, values[:, 7] > 0.5, rng.random(400) < 0.3], 1)
    wanted ^= rng.random(wanted.shape) < 0.02
    found = _columns_on_labels.choose(values, wanted)
    ranks = 399 - np.round(_columns_on_labels.SHARES * 400).astype(int)
    tried = np.sort(values, 0)[ranks]  # (thresholds, N)
    for k in range(3):
        best = max(
            f1_score(wanted[:, k], values[:, n] > tried[r, n], zero_division=0.0)
            for n in (7, 290, *range(0, 300, 30))
            for r in range(len(_columns_on_labels.SHARES))
        )
        assert found.f1[k] >= best - 1e-6
    assert found.columns[:2].tolist() == [290, 7]
    again = _columns_on_labels.measured(found, values, wanted)
    assert again == pytest.approx(found.f1)


def test_a_weighted_sum_is_that_of_ridge_regression():
    rng = np.random.default_rng(5)
    some, other = rng.normal(size=(2, 200, 12))
    wanted = some[:, [0, 3]] + 0.2 * rng.normal(size=(200, 2)) > 0.4
    penalty = 1e-6 * ((some - some.mean(0)) ** 2).sum() / 12
    known = Ridge(alpha=penalty, solver="cholesky").fit(some, wanted.astype(float))
    found = _columns_on_labels.readings(some, wanted, other)
    assert found == pytest.approx(known.predict(other) - wanted.mean(0), abs=1e-8)


def test_a_label_that_is_never_on_has_no_f1():
    values = np.random.default_rng(0).normal(size=(50, 4))
    never = np.zeros((50, 1), bool)
    assert _columns_on_labels.measured(
        _columns_on_labels.choose(values, never), values, never
    ) == pytest.approx([0.0])
