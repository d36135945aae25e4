"""Groups of vectors that lie together, and how far they agree with groups that are known.

Shapes: N points, C numbers in a vector, K clusters.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from llmviz.similarity.measures import as_matrix

STARTS = 5  # the best of so many is kept: a single start often ends in a poor place
ROUNDS = 300  # of one start, at most


@dataclass(frozen=True)
class Clusters:
    """K clusters: `labels` (N,) from 0 to K - 1, `centers` (K, C).

    `inertia` is the sum of squared distances from every point to the centre of its cluster.
    """

    labels: np.ndarray
    centers: np.ndarray
    inertia: float


def kmeans(matrix: ArrayLike, k: int, seed: int = 0, starts: int = STARTS) -> Clusters:
    """Return k clusters of the rows of a matrix (N, C), the best of some random starts.

    Clusters are numbered by size, the largest first. It finds good clusters, not always the
    best ones; another seed may find another.

    Raises: ValueError when k or starts is below 1, or there are fewer different points than k.

    Reference: Lloyd 1982; starts by Arthur, Vassilvitskii 2007 (k-means++).
    """
    rows = as_matrix(matrix)
    if k < 1 or starts < 1:
        raise ValueError(f"at least 1 cluster and 1 start are needed; got {k} and {starts}")
    different = len(np.unique(rows, axis=0)) if k > 1 else 1
    if k > different:
        raise ValueError(
            f"{k} clusters need {k} different points; there are {different}. Lower the number of "
            "clusters or take more points"
        )
    generator = np.random.default_rng(seed)
    tries = (refined(rows, far_apart(rows, k, generator)) for _ in range(starts))
    best = min(tries, key=lambda attempt: attempt.inertia)
    order = np.argsort(-np.bincount(best.labels, minlength=k), kind="stable")
    return Clusters(np.argsort(order)[best.labels], best.centers[order], best.inertia)


def far_apart(rows: np.ndarray, k: int, generator: np.random.Generator) -> np.ndarray:
    """Return k rows (K, C) to start from: each is drawn with a chance as its squared distance.

    That is its distance to the nearest of those drawn before.
    """
    drawn = [int(generator.integers(len(rows)))]
    near = _squares(rows, rows[drawn])[:, 0]
    while len(drawn) < k:
        drawn.append(int(generator.choice(len(rows), p=near / near.sum())))
        near = np.minimum(near, _squares(rows, rows[drawn[-1:]])[:, 0])
    return rows[drawn]


def refined(rows: np.ndarray, centers: np.ndarray) -> Clusters:
    """Return what centres (K, C) become: points go to the nearest, it moves to their mean, again.

    It ends when no point changes sides. A centre without points takes the point that is farthest
    from its own.
    """
    labels = np.full(len(rows), -1)
    for _ in range(ROUNDS):
        squares = _squares(rows, centers)
        nearest = squares.argmin(axis=1)
        if (nearest == labels).all():
            break
        labels = nearest
        own = squares[np.arange(len(rows)), labels]
        for empty in np.flatnonzero(np.bincount(labels, minlength=len(centers)) == 0):
            lone = int(np.where(np.bincount(labels)[labels] > 1, own, -1.0).argmax())
            labels[lone], own[lone] = empty, 0.0
        member = labels[:, None] == np.arange(len(centers))  # (N, K)
        centers = member.T @ rows / member.sum(axis=0)[:, None]
    return Clusters(labels, centers, float(((rows - centers[labels]) ** 2).sum()))


def _squares(rows: np.ndarray, centers: np.ndarray) -> np.ndarray:
    """Return the squared distances (N, K) between points and centres."""
    squares = (rows**2).sum(axis=1)[:, None] + (centers**2).sum(axis=1) - 2 * rows @ centers.T
    return np.maximum(squares, 0.0)


# ---- agreement with known groups


def purity(clusters: ArrayLike, known: ArrayLike) -> float:
    """Return the share of points that are of the kind most frequent in their cluster, 0 to 1.

    clusters, known: (N,), the cluster and the kind of each point. Clusters of one point each reach
    1, so it says something only for far fewer clusters than points.

    Raises: ValueError for no points or unequal numbers of them.

    Reference: Manning, Raghavan, Schütze 2008, section 16.3.
    """
    table = _together(clusters, known)
    return float(table.max(axis=1).sum() / table.sum())


def adjusted_rand(clusters: ArrayLike, known: ArrayLike) -> float:
    """Return how far two groupings of N points agree on which pairs belong together.

    1: they are the same; about 0: no more than chance; it may be negative.

    Raises: as `purity`.

    Reference: Hubert, Arabie 1985.
    """
    table = _together(clusters, known)
    both, rows, columns, every = (
        float((n * (n - 1) / 2).sum())
        for n in (table, table.sum(axis=1), table.sum(axis=0), table.sum(keepdims=True))
    )
    if every == 0:  # a single point: nothing to disagree about
        return 1.0
    chance = rows * columns / every
    most = (rows + columns) / 2
    return 1.0 if most == chance else (both - chance) / (most - chance)


def _together(clusters: ArrayLike, known: ArrayLike) -> np.ndarray:
    """Return how many points are in each cluster and of each kind, (clusters, kinds)."""
    clusters, known = np.asarray(clusters), np.asarray(known)
    if clusters.ndim != 1 or clusters.shape != known.shape or not clusters.size:
        raise ValueError(
            f"two groups for each point are needed; got {clusters.shape}, {known.shape}"
        )
    rows = np.unique(clusters, return_inverse=True)[1]
    columns = np.unique(known, return_inverse=True)[1]
    table = np.zeros((rows.max() + 1, columns.max() + 1))
    np.add.at(table, (rows, columns), 1)
    return table
