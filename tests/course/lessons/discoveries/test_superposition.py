"""Toy models of superposition: what is measured of them, and the bundled ones against oracles."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments import superposition as make_superposition
from llmviz.course.lessons.discoveries.superposition import superposition_record as record
from llmviz.course.lessons.discoveries.superposition.model import (
    MOST_DIMENSIONS,
    MOST_FEATURES,
    Learned,
    Moment,
    Toy,
    draw_features,
    learn,
)


def of(directions: np.ndarray, bias: np.ndarray | None = None, **toy: float) -> Learned:
    """A model with these directions (M, N)."""
    directions = np.asarray(directions, float)
    m, n = directions.shape
    bias = np.zeros(n) if bias is None else bias
    return Learned(Toy(n, m, **toy), [Moment(0, 0, 0.0, directions, bias)])


@pytest.mark.parametrize("sides", [3, 4, 5, 6, 9])
def test_a_regular_polygon_shares_two_dimensions_evenly(sides):
    angles = 2 * np.pi * np.arange(sides) / sides + 0.3
    found = of(np.stack([np.cos(angles), np.sin(angles)]))
    assert found.kept.all()
    assert found.shared.all()
    assert found.gaps == pytest.approx([360 / sides] * sides)
    assert found.dimensions_each == pytest.approx([2 / sides] * sides)


@given(st.integers(1, MOST_DIMENSIONS), st.integers(0, 5), st.integers(0, 99))
def test_directions_at_right_angles_have_a_dimension_each(kept, dropped, seed):
    turned, _ = np.linalg.qr(np.random.default_rng(seed).normal(size=(MOST_DIMENSIONS,) * 2))
    found = of(np.column_stack([turned[:, :kept], np.zeros((MOST_DIMENSIONS, dropped))]))
    assert found.kept.sum() == kept
    assert not found.shared.any()
    assert found.dimensions_each == pytest.approx([1.0] * kept + [0.0] * dropped)


def test_what_is_read_is_the_sum_of_what_each_feature_adds():
    rng = np.random.default_rng(0)
    moment = Moment(0, 0, 0.0, rng.normal(size=(2, 5)), rng.normal(size=5))
    x = rng.random(5)
    added = sum(x[j] * moment.directions[:, j] @ moment.directions for j in range(5))
    assert moment.read(x) == pytest.approx([max(0.0, one) for one in added + moment.bias])
    assert moment.read(np.zeros(5)) == pytest.approx([max(0.0, one) for one in moment.bias])


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"features": MOST_FEATURES + 1}, "features must be 1 to"),
        ({"dimensions": 0}, "dimensions must be 1 to"),
        ({"density": 0.0}, "density must be above 0"),
        ({"density": float("nan")}, "density must be above 0"),
        ({"ratio": 1.5}, "ratio must be above 0"),
    ],
)
def test_settings_out_of_range_are_refused(wrong, message):
    with pytest.raises(ValueError, match=message):
        Toy(**wrong)


def test_angles_are_those_of_a_plane():
    with pytest.raises(ValueError, match="3 dimensions"):
        _ = of(np.eye(3)).gaps


def test_a_training_gives_each_feature_a_direction_where_there_is_room():
    toy = Toy(features=2, dimensions=3, density=0.5, seed=1)
    first, *_, last = learn(toy, steps=400)
    found = Learned(toy, [first, last])
    assert (first.step, last.step, last.steps) == (0, 400, 400)
    assert found.kept.all()
    assert last.loss < first.loss / 20
    again = list(learn(toy, steps=400))[-1]
    assert np.array_equal(again.directions, last.directions)


@pytest.mark.parametrize("density", record.DENSITIES)
def test_the_loss_of_a_bundled_film_is_that_on_new_features(density):
    for seed in record.SEEDS:
        found = record.film(density, seed)
        x = draw_features(found.toy, 40_000, np.random.default_rng(9))
        errors = found.toy.importance * (x - found.last.read(x)) ** 2
        each = errors.sum(1)
        assert found.last.loss == pytest.approx(each.mean(), abs=0.05 * each.mean() + 1e-5)
        assert len(found.moments) == len({one.step for one in found.moments})


def test_sparse_features_share_and_dense_ones_do_not():
    for seed in record.SEEDS:
        dense, sparse = record.film(1.0, seed), record.film(0.05, seed)
        assert (dense.kept.sum(), dense.shared.sum()) == (2, 0)
        assert (sparse.kept.sum(), sparse.shared.sum()) == (5, 5)
        assert np.abs(sparse.gaps - 72).max() < 3


def mean_loss(w: np.ndarray, b: np.ndarray, density: float, importance: float) -> float:
    """The loss of two features in one dimension, over all their values one by one."""
    total = 0.0
    chances = [(0.0, 1 - density), *((v, density / len(record.VALUES)) for v in record.VALUES)]
    for one, p in chances:
        for other, q in chances:
            hidden = w[0] * one + w[1] * other
            read = np.maximum(0, hidden * w + b)
            missed = (one - read[0]) ** 2 + importance * (other - read[1]) ** 2
            total += p * q * missed
    return float(total)


def test_cells_of_the_chart_are_as_good_as_dropping_one_and_as_opposite_signs():
    chart, worse = record.phase_chart(), 0
    places = [(d, i) for d in range(0, 25, 2) for i in range(d % 4 // 2, 25, 2)]
    for d, i in places:
        density, importance = record.PHASE_DENSITIES[d], record.PHASE_IMPORTANCES[i]
        found = mean_loss(chart.directions[d, i], chart.bias[d, i], density, importance)
        assert found == pytest.approx(float(chart.losses[d, i]), rel=1e-3, abs=1e-6)
        mean = density * record.VALUES.mean()
        candidates = [
            ((1.0, 0.0), (0.0, mean)),
            ((0.0, 1.0), (mean, 0.0)),
            ((1.0, -1.0), (0.0, 0.0)),
        ]
        least = min(mean_loss(np.array(w), np.array(b), density, importance) for w, b in candidates)
        worse += found > least * 1.01 + 1e-5
    assert worse <= len(places) / 50  # where none of the starts came to the best


def test_the_chart_has_each_kind_where_it_belongs():
    kinds = record.phase_chart().kinds
    assert kinds[0, -1] == kinds[0, 0] == record.BOTH
    assert kinds[-1, 0] == record.FIRST
    assert kinds[-1, -1] == record.SECOND
    bare = replace(record.phase_chart(), directions=np.zeros_like(record.phase_chart().directions))
    assert (bare.kinds == record.NEITHER).all()


def test_cases_of_a_density_have_all_the_weight():
    cases, weights = make_superposition.phase_cases()
    assert weights.sum(0) == pytest.approx(np.ones(len(record.PHASE_DENSITIES)))
    on = (cases > 0).astype(float)
    assert weights.T @ on == pytest.approx(np.stack([record.PHASE_DENSITIES] * 2, -1))


def test_a_record_that_is_missing_or_damaged_is_refused(tmp_path):
    with pytest.raises(ValueError, match=record.COMMAND):
        record.film(1.0, folder=tmp_path)
