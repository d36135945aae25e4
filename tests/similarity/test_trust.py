"""Trustworthiness against scikit-learn's; neighbours against brute force."""

import numpy as np
import pytest

from llmviz import similarity as sim
from llmviz.similarity import trust

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("k", [1, 5, 12])
@pytest.mark.parametrize("n", [30, 101])
def test_equal_to_scikit_learn(n, k):
    from sklearn.manifold import trustworthiness as theirs

    rows, points = RNG.normal(size=(n, 8)), RNG.normal(size=(n, 2))
    for low in (points, rows[:, :2]):
        ours = sim.trustworthiness(rows, low, k)
        assert ours == pytest.approx(theirs(rows, low, n_neighbors=k), abs=1e-9)
        by_point = sim.point_trustworthiness(rows, low, k)
        assert by_point.shape == (n,)
        assert by_point.mean() == pytest.approx(ours)
    cosine = sim.trustworthiness(rows, points, k, "cosine")
    assert cosine == pytest.approx(theirs(rows, points, n_neighbors=k, metric="cosine"), abs=1e-9)


def test_a_faithful_map_is_fully_trusted_and_one_bad_point_is_found():
    rows = RNG.normal(size=(40, 2))
    assert sim.trustworthiness(rows, rows @ np.array([[0, 2], [-2, 0]]), 5) == 1
    moved = rows.copy()
    moved[np.abs(rows).sum(axis=1).argmax()] *= -1  # an outer point goes to the other side
    worst = sim.point_trustworthiness(rows, moved, 5).argmin()
    assert worst == np.abs(rows).sum(axis=1).argmax()


def test_neighbours_equal_brute_force():
    rows = RNG.normal(size=(30, 4))
    for i, ids in enumerate(sim.neighbour_ids(rows, 6, "cosine")):
        assert ids.tolist() == sim.nearest(rows, rows[i], 6, exclude=[i]).ids.tolist()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: sim.neighbour_ids(np.eye(4), 4), "from 1 to 3, the other points; got 4"),
        (lambda: sim.trustworthiness(np.eye(6), np.eye(6), 3), "below half of the 6 points"),
        (lambda: sim.trustworthiness(np.eye(6), np.eye(6), 0), "got 0"),
        (lambda: sim.trustworthiness(np.eye(6), np.eye(5), 1), "a point for each vector"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("n", [12, 200])
def test_ties_go_by_the_lowest_row_however_many_there_are(n):
    rows = RNG.integers(0, 3, (n, 2)).astype(float)  # nine places for all points
    expected = [
        sorted(
            (j for j in range(n) if j != i), key=lambda j, i=i: (np.hypot(*(rows[i] - rows[j])), j)
        )
        for i in range(n)
    ]
    assert sim.neighbour_ids(rows, 5).tolist() == [line[:5] for line in expected]
    ranks = trust.neighbour_ranks(rows)
    assert all(ranks[i, j] == place + 1 for i in range(n) for place, j in enumerate(expected[i]))
    assert (np.diag(ranks) == 0).all()


def test_ranks_serve_any_map_and_any_number_of_neighbours():
    rows, points = RNG.normal(size=(50, 6)), RNG.normal(size=(50, 2))
    ranks, near = trust.neighbour_ranks(rows), sim.neighbour_ids(points, 20)
    for k in (1, 7, 20):
        expected = sim.point_trustworthiness(rows, points, k)
        assert np.allclose(trust.trust_of_points(ranks, near[:, :k]), expected)
    with pytest.raises(ValueError, match="below half of the 50 points; got 30"):
        trust.trust_of_points(ranks, sim.neighbour_ids(points, 30))
