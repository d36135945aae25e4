"""How far a map can be trusted: whether neighbours on it are neighbours in truth.

Shapes: N points, C dimensions of the vectors, d of the map, k neighbours.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from llmviz.similarity.measures import as_matrix, check_metric, pairwise

_AHEAD = 8  # more candidates than neighbours, so that most ties are settled among them


def neighbour_ids(matrix: ArrayLike, k: int, metric: str = "euclidean") -> np.ndarray:
    """Return the k nearest other rows of every row, (N, k), nearest first, ties by lowest row.

    Raises: ValueError when k is not from 1 to N - 1.
    """
    rows = as_matrix(matrix)
    if not 1 <= k < len(rows):
        raise ValueError(f"k must be from 1 to {len(rows) - 1}, the other points; got {k}")
    distances = _distances(rows, metric)
    some = k + _AHEAD
    if some >= len(rows):
        return np.argsort(distances, axis=1, kind="stable")[:, :k]
    # Sorting a few candidates is five times as quick as sorting whole rows.
    near = np.sort(np.argpartition(distances, some, axis=1)[:, :some], axis=1)
    values = np.take_along_axis(distances, near, axis=1)
    order = np.argsort(values, axis=1, kind="stable")
    ids = np.take_along_axis(near, order[:, :k], axis=1)
    last = np.take_along_axis(values, order[:, [k - 1, some - 1]], axis=1)
    tied = np.flatnonzero(last[:, 0] == last[:, 1])  # the tie goes on beyond the candidates
    ids[tied] = np.argsort(distances[tied], axis=1, kind="stable")[:, :k]
    return ids


def neighbour_ranks(matrix: ArrayLike, metric: str = "euclidean") -> np.ndarray:
    """Return at [i, j] the place of row j among the neighbours of row i, (N, N).

    1 is the nearest; ties go by lowest row; a row's own place is 0.
    """
    order = np.argsort(_distances(as_matrix(matrix), metric), axis=1, kind="stable")
    ranks = np.empty(order.shape, dtype=np.int32)
    places = np.arange(1, len(order) + 1, dtype=np.int32)
    np.put_along_axis(ranks, order, np.broadcast_to(places, order.shape), axis=1)
    np.fill_diagonal(ranks, 0)
    return ranks


def trust_of_points(ranks: np.ndarray, on_map: np.ndarray) -> np.ndarray:
    """Return the trustworthiness of each point (N,) from `neighbour_ranks` of the vectors.

    on_map: (N, k), the neighbours of each point on the map.

    Raises: ValueError when k is not from 1 to below N / 2.
    """
    n, k = on_map.shape
    if not 1 <= k < n / 2:
        raise ValueError(f"k must be from 1 to below half of the {n} points; got {k}")
    excess = np.maximum(0, np.take_along_axis(ranks, on_map, axis=1) - k).sum(axis=1)
    return 1.0 - excess * 2.0 / (k * (2.0 * n - 3.0 * k - 1.0))


def point_trustworthiness(
    high: ArrayLike, low: ArrayLike, k: int = 5, metric: str = "euclidean"
) -> np.ndarray:
    """Return for each point (N,) how true its k neighbours on the map `low` (N, d) are, 0 to 1.

    1: all of them are among its k nearest in `high` (N, C). A neighbour on the map that is the
    r-th nearest in truth counts r - k against it; what the map tears apart is not counted.
    `metric` is that of `high`; on the map it is Euclidean.

    Raises: ValueError for different numbers of points, or k not from 1 to below N / 2.

    Reference: Venna, Kaski 2001, equation 1, split by point.
    """
    high, low = as_matrix(high), as_matrix(low)
    n = len(high)
    if len(low) != n:
        raise ValueError(f"a map must have a point for each vector; got {len(low)} for {n}")
    if not 1 <= k < n / 2:
        raise ValueError(f"k must be from 1 to below half of the {n} points; got {k}")
    return trust_of_points(neighbour_ranks(high, metric), neighbour_ids(low, k))


def trustworthiness(
    high: ArrayLike, low: ArrayLike, k: int = 5, metric: str = "euclidean"
) -> float:
    """Return how true the k neighbours on a map are, over all points, from 0 to 1.

    Raises: as `point_trustworthiness`.

    Reference: Venna, Kaski 2001, equation 1.
    """
    return float(point_trustworthiness(high, low, k, metric).mean())


def _distances(rows: np.ndarray, metric: str) -> np.ndarray:
    """Return distances (N, N) in any metric; a point is infinitely far from itself."""
    check_metric(metric)
    distances = pairwise(rows, metric)
    if metric != "euclidean":
        distances = -distances
    np.fill_diagonal(distances, np.inf)
    return distances
