"""Which vectors of a matrix are nearest to one, by brute force over all of them.

Shapes: C width of a vector, N rows of a matrix. Everything is computed in float64.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from llmviz.similarity.measures import as_matrix, as_vector, check_metric, checked_row, unit


@dataclass(frozen=True)
class Neighbours:
    """Rows nearest to a vector, best first; `values` are cosines, distances or products.

    `undefined` counts rows that cosine could not be taken of because they are zero.
    """

    ids: np.ndarray
    values: np.ndarray
    metric: str
    undefined: int = 0


def nearest(
    matrix: ArrayLike,
    vector: ArrayLike,
    k: int | None = 10,
    metric: str = "cosine",
    exclude: Iterable[int] = (),
) -> Neighbours:
    """Return the k rows of a matrix (N, C) nearest to a vector (C,), by brute force over all.

    Without k, all rows that are left are returned.

    Nearest is the largest cosine or dot product, or the smallest distance; equal values go by
    the lowest row. Rows in `exclude` are passed over, and zero rows under cosine, which has no
    value for them.

    Raises: ValueError when k is below 1 or above the rows that are left, for unequal widths, an
    unknown metric, or a zero vector under cosine.
    """
    return best(measure_all(matrix, vector, metric), k, metric, exclude)


def best(
    values: np.ndarray, k: int | None = 10, metric: str = "cosine", exclude: Iterable[int] = ()
) -> Neighbours:
    """Return the k rows with the best of some measured values (N,), as `measure_all` gives them.

    Raises: ValueError when k is below 1 or above the rows that are left, or an unknown metric.
    """
    check_metric(metric)
    undefined = np.isnan(values)
    allowed = ~undefined
    for row in exclude:
        allowed[checked_row(row, len(values))] = False
    k = int(allowed.sum()) if k is None else k
    if not 1 <= k <= allowed.sum():
        raise ValueError(f"k must be from 1 to the {allowed.sum()} rows that remain; got {k}")
    keys = np.where(allowed, values if metric == "euclidean" else -values, np.inf)
    threshold = np.partition(keys, k - 1)[k - 1]
    candidates = np.flatnonzero(keys <= threshold)
    ids = candidates[np.argsort(keys[candidates], kind="stable")][:k]
    return Neighbours(ids, values[ids], metric, int(undefined.sum()))


def measure_all(matrix: ArrayLike, vector: ArrayLike, metric: str = "cosine") -> np.ndarray:
    """Return the measure (N,) of every row of a matrix (N, C) with a vector (C,).

    Zero rows have no cosine: NaN stands for them.

    Raises: ValueError for unequal widths, an unknown metric, or a zero vector under cosine.
    """
    check_metric(metric)
    rows, target = as_matrix(matrix), as_vector(vector)
    if rows.shape[1] != target.size:
        raise ValueError(f"vectors must have equal length; got {rows.shape[1]} and {target.size}")
    return _measure(rows, target, metric)


def _measure(rows: np.ndarray, target: np.ndarray, metric: str) -> np.ndarray:
    # Squares are summed without a matrix of them: making one takes longer than the sums.
    if metric == "euclidean":
        differences = rows - target
        return np.sqrt(np.einsum("nc,nc->n", differences, differences))
    # On one thread: a product on all of them waits for the one that a browser keeps busy.
    products = np.einsum("nc,c->n", rows, target)
    if metric == "dot":
        return products
    norm = np.linalg.norm(target)
    if norm == 0:
        raise ValueError("cosine is undefined for a zero vector; the one looked for has length 0")
    norms = np.sqrt(np.einsum("nc,nc->n", rows, rows))
    norms[norms == 0] = np.nan
    return np.clip(products / (norms * norm), -1.0, 1.0)


def analogy(
    matrix: ArrayLike, a: int, b: int, c: int, k: int | None = 10, *, exclude_inputs: bool = True
) -> Neighbours:
    """Return the rows nearest by cosine to a - b + c, where a, b, c are rows of a matrix (N, C).

    king - man + woman is `analogy(matrix, king, man, woman)`. The three are scaled to length 1
    first and are not candidates themselves, as in the paper; `exclude_inputs=False` shows how
    often the nearest is c or a again.

    Raises: ValueError for a row outside the matrix, a zero row, or too large a k.

    Reference: Mikolov, Yih, Zweig 2013, section 4 (the vector offset method).
    """
    rows = as_matrix(matrix)
    places = [checked_row(row, len(rows)) for row in (a, b, c)]
    three = rows[places]
    for row, vector in zip(places, three, strict=True):
        if not vector.any():
            raise ValueError(f"cosine is undefined for a zero vector; row {row} is one")
    first, second, third = unit(three)
    return nearest(rows, first - second + third, k, "cosine", places if exclude_inputs else ())
