"""Maps against scikit-learn; alignment by its identities."""

import builtins

import numpy as np
import pytest

from llmviz import similarity as sim

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
