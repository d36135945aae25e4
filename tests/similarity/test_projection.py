"""Maps, still and moving, and how far to trust them: against scikit-learn and by identities."""

import builtins

import numpy as np
import pytest

from llmviz import similarity as sim
from llmviz.similarity import trust
from llmviz.similarity.film import film_maps, frame_map, near_film

RNG = np.random.default_rng(0)
ROWS = RNG.normal(size=(60, 10)) * np.linspace(3, 0.5, 10)


@pytest.mark.parametrize("dimensions", [1, 2, 3])
def test_pca_equals_scikit_learn(dimensions):
    from sklearn.decomposition import PCA

    ours, theirs = sim.pca(ROWS, dimensions), PCA(dimensions, svd_solver="full").fit(ROWS)
    np.testing.assert_allclose(ours.explained, theirs.explained_variance_ratio_)
    for mine, other in zip(ours.components, theirs.components_, strict=True):
        np.testing.assert_allclose(mine, other * np.sign(mine @ other), atol=1e-10)
        assert mine[np.abs(mine).argmax()] > 0
    np.testing.assert_allclose(ours.points, (ROWS - ROWS.mean(axis=0)) @ ours.components.T)
    np.testing.assert_array_equal(sim.project(ROWS, "pca", dimensions), ours.points)


def test_pca_with_fewer_components_than_asked_for():
    line = sim.pca(np.array([[1.0], [2.0], [4.0]]), 2)
    assert line.points[:, 1].tolist() == [0, 0, 0]
    np.testing.assert_allclose(np.ptp(line.points[:, 0]), 3)
    assert sim.project([[1.0, 2.0, 3.0]], "pca", 2).tolist() == [[0, 0]]


def test_in_two_dimensions_the_map_is_the_vectors():
    rows = RNG.normal(size=(20, 2))
    points = sim.project(rows, "pca", 2, orientation=rows)
    np.testing.assert_allclose(points, rows, atol=1e-12)


def test_align_undoes_turning_and_mirroring_and_keeps_distances():
    rows = RNG.normal(size=(25, 3))
    turn, _ = np.linalg.qr(RNG.normal(size=(3, 3)))
    for mirror in (1, -1):
        moved = rows @ (turn * np.array([1, 1, mirror])) + [5, -2, 1]
        np.testing.assert_allclose(sim.align(moved, rows), rows, atol=1e-10)
    other = RNG.normal(size=(25, 3))
    aligned = sim.align(other, rows)
    np.testing.assert_allclose(
        sim.pairwise(aligned, "euclidean"), sim.pairwise(other, "euclidean"), atol=1e-6
    )
    distance = np.linalg.norm(aligned - rows)
    for _ in range(50):  # no other turn brings it closer
        turn, _ = np.linalg.qr(RNG.normal(size=(3, 3)))
        centred = other - other.mean(axis=0)
        assert np.linalg.norm(centred @ turn + rows.mean(axis=0) - rows) >= distance - 1e-9


def test_tsne_finds_clusters_repeats_and_keeps_its_orientation():
    centres = np.eye(3, 12) * 20
    labels = np.repeat(np.arange(3), 15)
    rows = centres[labels] + RNG.normal(size=(45, 12))
    frames = list(sim.project_steps(rows, "tsne", seed=3))
    assert len(frames) == 3
    last = sim.project(rows, "tsne", seed=3)
    np.testing.assert_array_equal(last, sim.project(rows, "tsne", seed=3))
    for points in (frames[-1], last):
        near = sim.neighbour_ids(points, 5)
        assert (labels[near] == labels[:, None]).all()
    turned = sim.project(rows, "tsne", seed=3, orientation=-last)
    np.testing.assert_allclose(turned, -last, atol=1e-3 * np.abs(last).max())


def test_umap_draws_or_says_what_is_missing(monkeypatch):
    real = builtins.__import__

    def without_umap(name, *args, **kwargs):
        if name.startswith("umap"):
            raise ModuleNotFoundError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without_umap)
    with pytest.raises(ValueError, match="umap-learn, which is not installed; or pca or tsne"):
        sim.project(ROWS, "umap")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: sim.project(ROWS, "som"), "method must be one of pca, tsne, umap; got 'som'"),
        (lambda: sim.project(ROWS, "pca", 0), "1 dimension or more"),
        (lambda: sim.project(ROWS[:3], "tsne"), "at least 4 points; got 3"),
        (lambda: sim.project(ROWS, "tsne", perplexity=0), "perplexity"),
        (lambda: sim.project(ROWS, "tsne", 4), "at most 3"),
        (lambda: sim.align(ROWS, ROWS[:5]), "same points"),
        (lambda: sim.project([1.0, 2.0]), "matrix"),
        (lambda: sim.neighbour_ids(np.eye(4), 4), "from 1 to 3, the other points; got 4"),
        (lambda: sim.trustworthiness(np.eye(6), np.eye(6), 3), "below half of the 6 points"),
        (lambda: sim.trustworthiness(np.eye(6), np.eye(6), 0), "got 0"),
        (lambda: sim.trustworthiness(np.eye(6), np.eye(5), 1), "a point for each vector"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_umap_keeps_clusters_together():
    labels = np.repeat(np.arange(2), 12)
    rows = np.eye(2, 6)[labels] * 20 + RNG.normal(size=(24, 6))
    points = sim.project(rows, "umap", seed=1, neighbours=5)
    assert points.shape == (24, 2)
    near = sim.neighbour_ids(points, 3)
    assert (labels[near] == labels[:, None]).all()


def test_only_umap_s_own_code_is_kept_on_disk():
    numba = pytest.importorskip("numba")
    from llmviz.similarity.compiled import loaded, umap_class

    own = numba.njit
    assert umap_class().__name__ == "UMAP" and list(loaded()) == []
    assert numba.njit is own


def moving(frames: int, n: int, c: int) -> np.ndarray:
    """Points that drift a little from frame to frame."""
    return RNG.normal(size=(n, c)) * np.linspace(3, 1, c) + np.cumsum(
        RNG.normal(size=(frames, n, c)) * 0.02, axis=0
    )


def test_in_two_dimensions_the_maps_are_the_vectors():
    frames = moving(4, 12, 2)
    assert np.array_equal(film_maps(frames), frames)


def test_in_one_dimension_the_lanes_stand_beside_the_numbers():
    frames = moving(3, 6, 1)
    lanes = np.array([0, 1, 1, 2, 0, 2])
    maps = film_maps(frames, lanes)
    assert np.array_equal(maps[:, :, 0], frames[:, :, 0])
    assert (maps[:, :, 1] == lanes).all()
    assert (film_maps(frames)[:, :, 1] == 0).all()


def test_above_each_map_is_the_principal_plane_only_turned():
    from sklearn.decomposition import PCA

    frames = moving(6, 30, 8)
    maps = film_maps(frames)
    for rows, points in zip(frames, maps, strict=True):
        plane = PCA(2, svd_solver="full").fit_transform(rows)
        np.testing.assert_allclose(
            sim.pairwise(points, "euclidean"), sim.pairwise(plane, "euclidean"), atol=1e-6
        )


def test_points_that_move_little_move_little_on_the_map():
    frames = moving(6, 30, 8)
    frames[3] = frames[2] * np.array([-1, 1, -1, 1, 1, 1, 1, 1])  # mirrored in space
    steps = np.linalg.norm(np.diff(film_maps(frames), axis=0), axis=2).mean(axis=1)
    assert (steps < 0.3).all()
    assert np.array_equal(frame_map(frames[1], film_maps(frames[:1])[0]), film_maps(frames)[1])


@pytest.mark.parametrize("metric", sim.METRICS)
def test_neighbours_at_every_frame_equal_brute_force(metric):
    frames = moving(3, 15, 4)
    ids, values = near_film(frames, 7, 5, metric)
    assert ids.shape == values.shape == (3, 5)
    for at, rows in enumerate(frames):
        values = [getattr(sim, metric)(rows[7], row) for row in rows]
        order = np.argsort(values if metric == "euclidean" else np.negative(values))
        assert ids[at].tolist() == [j for j in order if j != 7][:5]


def test_what_is_not_finite_is_refused():
    rows = moving(1, 5, 3)[0]
    rows[2, 1] = np.inf
    with pytest.raises(ValueError, match="row 2 does not"):
        frame_map(rows)


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
