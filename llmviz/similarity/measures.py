"""How alike two vectors are, with the arithmetic.

Shapes: C width of a vector, N rows of a matrix. Everything is computed in float64.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

METRICS = ("cosine", "euclidean", "dot")


def as_vector(vector: ArrayLike, name: str = "the vector") -> np.ndarray:
    """Return a vector as float64 (C,), or raise ValueError when it is none or not finite."""
    values = _as_float64(vector)
    if values.ndim != 1 or values.size == 0:
        raise ValueError(f"{name} must be a list of numbers; got shape {values.shape}")
    if not np.isfinite(values).all():
        raise ValueError(f"{name} must hold finite numbers only; got {values}")
    return values


def as_matrix(matrix: ArrayLike) -> np.ndarray:
    """Return a matrix as float64 (N, C), or raise ValueError when it is none or not finite."""
    values = _as_float64(matrix)
    if values.ndim != 2 or values.size == 0:
        raise ValueError(f"the vectors must form a matrix (N, C); got shape {values.shape}")
    if not np.isfinite(values).all():
        row = int(np.flatnonzero(~np.isfinite(values).all(axis=1))[0])
        raise ValueError(f"the vectors must hold finite numbers only; row {row} does not")
    return values


def _as_float64(values: ArrayLike) -> np.ndarray:
    if hasattr(values, "detach"):  # a tensor, also one of bfloat16 or on another device
        values = values.detach().float().cpu().numpy()
    return np.asarray(values, dtype=np.float64)


def _pair(a: ArrayLike, b: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    a, b = as_vector(a, "the first vector"), as_vector(b, "the second vector")
    if a.size != b.size:
        raise ValueError(f"vectors must have equal length; got {a.size} and {b.size}")
    return a, b


@dataclass(frozen=True)
class CosineTerms:
    """The arithmetic of dot product and cosine: each array (C,), each sum under its name."""

    products: np.ndarray
    dot: float
    norm_a: float
    norm_b: float
    cosine: float


@dataclass(frozen=True)
class EuclideanTerms:
    """The arithmetic of a Euclidean distance: (C,) differences and their squares, sum, root."""

    differences: np.ndarray
    squares: np.ndarray
    total: float
    distance: float


def cosine_terms(a: ArrayLike, b: ArrayLike) -> CosineTerms:
    """Return every number of cos(a, b) = a·b / (|a| |b|) for two vectors (C,).

    Raises: ValueError for unequal lengths, and for a zero vector, which has no direction.
    """
    a, b = _pair(a, b)
    products = a * b
    norm_a, norm_b = float(np.sqrt((a * a).sum())), float(np.sqrt((b * b).sum()))
    if norm_a == 0 or norm_b == 0:
        which = "first" if norm_a == 0 else "second"
        raise ValueError(f"cosine is undefined for a zero vector; the {which} one has length 0")
    dot_product = float(products.sum())
    # Dividing the vectors first keeps huge and tiny ones from overflowing the product of norms.
    value = float(np.clip((a / norm_a) @ (b / norm_b), -1.0, 1.0))
    return CosineTerms(products, dot_product, norm_a, norm_b, value)


def euclidean_terms(a: ArrayLike, b: ArrayLike) -> EuclideanTerms:
    """Return every number of |a - b| for two vectors (C,).

    Raises: ValueError for unequal lengths.
    """
    a, b = _pair(a, b)
    differences = a - b
    squares = differences**2
    total = float(squares.sum())
    return EuclideanTerms(differences, squares, total, float(np.sqrt(total)))


def cosine(a: ArrayLike, b: ArrayLike) -> float:
    """Return the cosine of the angle between two vectors, from -1 to 1.

    >>> round(cosine([0.2, 0.4, 0.9], [0.1, 0.5, 0.8]), 4)
    0.9859

    Raises: ValueError for unequal lengths and for a zero vector.
    """
    return cosine_terms(a, b).cosine


def euclidean(a: ArrayLike, b: ArrayLike) -> float:
    """Return the straight-line distance between two vectors.

    >>> euclidean([0, 0], [3, 4])
    5.0

    Raises: ValueError for unequal lengths.
    """
    return euclidean_terms(a, b).distance


def dot(a: ArrayLike, b: ArrayLike) -> float:
    """Return the dot product of two vectors, which grows with their lengths too.

    >>> dot([1, 2], [3, 4])
    11.0

    Raises: ValueError for unequal lengths.
    """
    a, b = _pair(a, b)
    return float(a @ b)


def pairwise(
    matrix: ArrayLike, metric: str = "cosine", other: ArrayLike | None = None
) -> np.ndarray:
    """Return the measure of every row of a matrix (N, C) with every row of it, or of another.

    The result is (N, N) or (N, M).

    Raises: ValueError for an unknown metric, unequal widths, and a zero row under cosine.
    """
    check_metric(metric)
    a = as_matrix(matrix)
    b = a if other is None else as_matrix(other)
    if a.shape[1] != b.shape[1]:
        raise ValueError(f"vectors must have equal length; got {a.shape[1]} and {b.shape[1]}")
    if metric == "cosine":
        for rows in (a, b):
            zero = np.flatnonzero(~rows.any(axis=1))
            if zero.size:
                raise ValueError(f"cosine is undefined for a zero vector; row {zero[0]} is one")
        return np.clip(unit(a) @ unit(b).T, -1.0, 1.0)
    products = a @ b.T
    if metric == "dot":
        return products
    squares = (a * a).sum(axis=1)[:, None] + (b * b).sum(axis=1)[None, :] - 2 * products
    distances = np.sqrt(np.maximum(squares, 0.0))
    if other is None:
        np.fill_diagonal(distances, 0.0)
    return distances


def nearest_spellings(word: str, words: Iterable[str], k: int = 5) -> list[str]:
    """Return up to k known words that are spelled most like this one, the likest first."""
    return difflib.get_close_matches(word, list(words), n=k, cutoff=0.5)


def check_metric(metric: str) -> None:
    """Raise ValueError unless the metric is one of METRICS."""
    if metric not in METRICS:
        raise ValueError(f"metric must be one of {', '.join(METRICS)}; got {metric!r}")


def unit(rows: np.ndarray) -> np.ndarray:
    """Return rows (N, C), none of them zero, at length 1."""
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def checked_row(row: int, count: int) -> int:
    """Return a row, or raise ValueError unless it is from 0 to `count` - 1."""
    if not 0 <= row < count:
        raise ValueError(f"a row must be from 0 to {count - 1}; got {row}")
    return int(row)
