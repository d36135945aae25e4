"""Maps of vectors that move: the vectors themselves in two dimensions, never stretched above."""

import numpy as np
import pytest

from llmviz import similarity as sim
from llmviz.similarity.film import film_maps, frame_map, near_film

RNG = np.random.default_rng(0)


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
