"""How far a map can be trusted: whether neighbours on it are neighbours in truth.

Shapes: N points, C dimensions of the vectors, d of the map, k neighbours.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from llmviz.similarity.measures import as_matrix, check_metric, pairwise


def neighbour_ids(matrix: ArrayLike, k: int, metric: str = "euclidean") -> np.ndarray:
    """Return the k nearest other rows of every row, (N, k), nearest first, ties by lowest row.

    Raises: ValueError when k is not from 1 to N - 1.
    """
    rows = as_matrix(matrix)
    if not 1 <= k < len(rows):
        raise ValueError(f"k must be from 1 to {len(rows) - 1}, the other points; got {k}")
    return np.argsort(_distances(rows, metric), axis=1, kind="stable")[:, :k]


def point_trustworthiness(
    high: ArrayLike, low: ArrayLike, k: int = 5, metric: str = "euclidean"
) -> np.ndarray:
    """Return for each point (N,) how true its k neighbours on the map `low` (N, d) are, 0 to 1.

    1: all of them are among its k nearest in `high` (N, C). A neighbour on the map that is the
    r-th nearest in truth costs r - k. The mean over the points is `trustworthiness`. What the map
    tears apart is not counted. `metric` is that of `high`; on the map it is Euclidean.

    Raises: ValueError for different numbers of points, or k not from 1 to below N / 2.

    Reference: Venna, Kaski 2001, equation 1, split by point.
    """
    high, low = as_matrix(high), as_matrix(low)
    n = len(high)
    if len(low) != n:
        raise ValueError(f"a map must have a point for each vector; got {len(low)} for {n}")
    if not 1 <= k < n / 2:
        raise ValueError(f"k must be from 1 to below half of the {n} points; got {k}")
    on_map = neighbour_ids(low, k)
    true = _distances(high, metric)
    excess = np.empty(n)
    columns = np.arange(n)
    for i, row in enumerate(true):
        reach = row[on_map[i]][:, None]
        nearer = (row < reach) | ((row == reach) & (columns < on_map[i][:, None]))
        excess[i] = np.maximum(0, nearer.sum(axis=1) + 1 - k).sum()
    return 1.0 - excess * 2.0 / (k * (2.0 * n - 3.0 * k - 1.0))


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
