"""Clusters against scikit-learn's; agreement by hand and against scikit-learn's."""

import numpy as np
import pytest

from llmviz import similarity as sim
from llmviz.similarity.clusters import far_apart, refined

RNG = np.random.default_rng(0)
CLOUDS = np.concatenate([RNG.normal(at, 0.3, (20 + 5 * at, 6)) for at in (-3, 0, 3)])
MIXED = RNG.normal(size=(150, 5))


def test_from_the_same_start_it_ends_where_scikit_learn_ends():
    from sklearn.cluster import KMeans

    for rows, k in ((CLOUDS, 3), (MIXED, 7)):
        start = far_apart(rows, k, np.random.default_rng(1))
        ours = refined(rows, start)
        theirs = KMeans(k, init=start, n_init=1, tol=0, max_iter=300, algorithm="lloyd").fit(rows)
        np.testing.assert_array_equal(ours.labels, theirs.labels_)
        np.testing.assert_allclose(ours.centers, theirs.cluster_centers_, atol=1e-9)
        assert ours.inertia == pytest.approx(theirs.inertia_)


def test_every_row_may_be_a_first_centre_and_the_second_is_drawn_by_squared_distance():
    rows = np.array([[0.0], [1.0], [3.0]])
    starts = [far_apart(rows, 2, np.random.default_rng(seed))[:, 0] for seed in range(3000)]
    for first, others in (
        (0.0, {1.0: 1, 3.0: 9}),
        (1.0, {0.0: 1, 3.0: 4}),
        (3.0, {0.0: 9, 1.0: 4}),
    ):
        seconds = [second for begin, second in starts if begin == first]
        assert len(seconds) / 3000 == pytest.approx(1 / 3, abs=0.04)
        for second, weight in others.items():
            share = weight / sum(others.values())
            assert seconds.count(second) / len(seconds) == pytest.approx(share, abs=0.07)


def test_the_best_start_is_about_as_good_as_scikit_learn_s():
    from sklearn.cluster import KMeans

    ours = sim.kmeans(MIXED, 8, seed=3)
    theirs = KMeans(8, n_init=10, random_state=3).fit(MIXED)
    assert ours.inertia <= 1.02 * theirs.inertia_
    again = sim.kmeans(MIXED, 8, seed=3)
    np.testing.assert_array_equal(ours.labels, again.labels)


def test_every_centre_is_the_mean_of_its_points_and_every_point_with_the_nearest():
    found = sim.kmeans(MIXED, 6)
    for cluster in range(6):
        np.testing.assert_allclose(found.centers[cluster], MIXED[found.labels == cluster].mean(0))
    distances = np.linalg.norm(MIXED[:, None] - found.centers[None], axis=2)
    np.testing.assert_array_equal(found.labels, distances.argmin(axis=1))
    sizes = np.bincount(found.labels)
    assert (np.diff(sizes) <= 0).all()  # the largest is the first


def test_separate_clouds_are_found_and_one_point_each_is_possible():
    found = sim.kmeans(CLOUDS, 3)
    assert sim.adjusted_rand(found.labels, np.repeat([0, 1, 2], [5, 20, 35])) == 1
    alone = sim.kmeans(MIXED[:9], 9)
    assert sorted(alone.labels) == list(range(9)) and alone.inertia == pytest.approx(0)
    assert sim.kmeans(MIXED, 1).labels.tolist() == [0] * len(MIXED)


def test_a_centre_without_points_takes_the_farthest_one():
    rows = np.array([[0.0], [1.0], [10.0]])
    found = refined(rows, np.array([[0.0], [100.0], [200.0]]))
    assert sorted(found.labels.tolist()) == [0, 1, 2] and found.inertia == 0


@pytest.mark.parametrize(
    ("rows", "k", "rule"),
    [
        (MIXED[:5], 6, "6 clusters need 6 different points; there are 5"),
        (np.ones((9, 2)), 2, "2 different points; there are 1"),
        (MIXED, 0, "at least 1 cluster"),
    ],
)
def test_more_clusters_than_points_are_refused(rows, k, rule):
    with pytest.raises(ValueError, match=rule):
        sim.kmeans(rows, k)


def test_purity_by_hand():
    # The textbook's example: 17 points, clusters of 6, 6 and 5, of which 5, 4 and 3 are alike.
    found = [0] * 6 + [1] * 6 + [2] * 5
    known = list("xxxxxo") + list("xooood") + list("xxddd")
    assert sim.purity(found, known) == pytest.approx(12 / 17)
    assert sim.purity([0, 0, 0], [1, 1, 2]) == pytest.approx(2 / 3)
    assert sim.purity([0, 1, 2], [1, 1, 2]) == 1


def test_agreement_equals_scikit_learn_s():
    from sklearn.metrics import adjusted_rand_score

    for k, kinds in ((2, 2), (5, 3), (9, 22), (1, 4), (4, 1), (1, 1)):
        found, known = RNG.integers(0, k, 60), RNG.integers(-1, kinds - 1, 60)
        expected = adjusted_rand_score(known, found)
        assert sim.adjusted_rand(found, known) == pytest.approx(expected, abs=1e-12)
    assert sim.adjusted_rand([0, 0, 1, 1], [7, 7, 3, 3]) == 1
    assert sim.adjusted_rand([0, 0, 1, 1], [0, 1, 0, 1]) == pytest.approx(-0.5)
    assert sim.adjusted_rand([0], [5]) == 1
    with pytest.raises(ValueError, match="two groups for each point"):
        sim.adjusted_rand([0, 1], [0])
    with pytest.raises(ValueError, match="two groups for each point"):
        sim.purity([], [])
