"""Toy models of superposition: what is measured of them, and the bundled ones against oracles."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from llmviz.course.lessons.discoveries.superposition import model


def of(directions: np.ndarray, bias: np.ndarray | None = None, **toy: float) -> model.Learned:
    """A model with these directions (M, N)."""
    directions = np.asarray(directions, float)
    m, n = directions.shape
    bias = np.zeros(n) if bias is None else bias
    return model.Learned(model.Toy(n, m, **toy), [model.Moment(0, 0, 0.0, directions, bias)])


def draw_features(toy: model.Toy, count: int, generator: np.random.Generator) -> np.ndarray:
    """Return `count` rows of features (count, N)."""
    values = generator.random((count, toy.features))
    return np.where(generator.random(values.shape) < toy.density, values, 0.0)


@pytest.mark.parametrize("sides", [3, 4, 5, 6, 9])
def test_a_regular_polygon_shares_two_dimensions_evenly(sides):
    angles = 2 * np.pi * np.arange(sides) / sides + 0.3
    found = of(np.stack([np.cos(angles), np.sin(angles)]))
    assert found.kept.all()
    assert found.shared.all()
    assert found.gaps == pytest.approx([360 / sides] * sides)
    assert found.dimensions_each == pytest.approx([2 / sides] * sides)


@given(st.integers(1, model.MOST_DIMENSIONS), st.integers(0, 5), st.integers(0, 99))
def test_directions_at_right_angles_have_a_dimension_each(kept, dropped, seed):
    turned, _ = np.linalg.qr(np.random.default_rng(seed).normal(size=(model.MOST_DIMENSIONS,) * 2))
    found = of(np.column_stack([turned[:, :kept], np.zeros((model.MOST_DIMENSIONS, dropped))]))
    assert found.kept.sum() == kept
    assert not found.shared.any()
    assert found.dimensions_each == pytest.approx([1.0] * kept + [0.0] * dropped)


def test_a_feature_is_kept_from_a_direction_of_half_the_length_on():
    """What is shorter has no dimension of its own, and takes none from whoever it lies beside."""
    short = np.nextafter(model.KEPT, 0)
    found = of([[1.0, 0.0, 0.0], [0.0, model.KEPT, short]])
    assert found.kept.tolist() == [True, True, False]
    # ‖W‖⁴ over the sum of squared products with all: the short one is no feature, but it is there.
    half, less = model.KEPT**4, (model.KEPT * short) ** 2
    assert found.dimensions_each == pytest.approx([1.0, half / (half + less), 0.0])
    assert found.shared.tolist() == [False, False, False]
    assert found.gaps == pytest.approx([90.0, 270.0])
    assert of([[0.3, -0.2, 0.0]]).dimensions_each.tolist() == [0.0] * 3


def test_what_is_read_is_the_sum_of_what_each_feature_adds():
    rng = np.random.default_rng(0)
    moment = model.Moment(0, 0, 0.0, rng.normal(size=(2, 5)), rng.normal(size=5))
    x = rng.random(5)
    added = sum(x[j] * moment.directions[:, j] @ moment.directions for j in range(5))
    assert moment.read(x) == pytest.approx([max(0.0, one) for one in added + moment.bias])
    assert moment.read(np.zeros(5)) == pytest.approx([max(0.0, one) for one in moment.bias])


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"features": model.MOST_FEATURES + 1}, "features must be 1 to"),
        ({"dimensions": 0}, "dimensions must be 1 to"),
        ({"density": 0.0}, "density must be above 0"),
        ({"density": float("nan")}, "density must be above 0"),
        ({"ratio": 1.5}, "ratio must be above 0"),
    ],
)
def test_settings_out_of_range_are_refused(wrong, message):
    with pytest.raises(ValueError, match=message):
        model.Toy(**wrong)


def test_angles_are_those_of_a_plane():
    with pytest.raises(ValueError, match="3 dimensions"):
        _ = of(np.eye(3)).gaps


def test_a_training_gives_each_feature_a_direction_where_there_is_room():
    toy = model.Toy(features=2, dimensions=3, density=0.5, seed=1)
    first, *_, last = model.learn(toy, steps=400)
    found = model.Learned(toy, [first, last])
    assert (first.step, last.step, last.steps) == (0, 400, 400)
    assert found.kept.all()
    assert last.loss < first.loss / 20
    again = list(model.learn(toy, steps=400))[-1]
    assert np.array_equal(again.directions, last.directions)


@pytest.mark.parametrize("density", model.DENSITIES)
def test_the_loss_of_a_bundled_film_is_that_on_new_features(density):
    for seed in model.SEEDS:
        found = model.film(density, seed)
        x = draw_features(found.toy, 40_000, np.random.default_rng(9))
        errors = found.toy.importance * (x - found.last.read(x)) ** 2
        each = errors.sum(1)
        assert found.last.loss == pytest.approx(each.mean(), abs=0.05 * each.mean() + 1e-5)
        assert len(found.moments) == len({one.step for one in found.moments})


def test_sparse_features_share_and_dense_ones_do_not():
    for seed in model.SEEDS:
        dense, sparse = model.film(1.0, seed), model.film(0.05, seed)
        assert (dense.kept.sum(), dense.shared.sum()) == (2, 0)
        assert (sparse.kept.sum(), sparse.shared.sum()) == (5, 5)
        assert np.abs(sparse.gaps - 72).max() < 3
