"""Two vectors as a picture and on paper, many pairs at once, and how often analogies come out.

Shapes: C width of a vector, V rows of a matrix, Q questions.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from llmviz.similarity.measures import as_matrix, cosine_terms

LESS_WORK = 256  # questions that are looked at together


def in_plane(a: ArrayLike, b: ArrayLike) -> np.ndarray:
    """Return two vectors (C,) in the plane that they span, (2, 2): lengths and angle are kept.

    The first lies along the x-axis, the second above it.

    >>> in_plane([3, 0, 0], [0, 0, 4]).tolist()
    [[3.0, 0.0], [0.0, 4.0]]

    Raises: ValueError for unequal lengths and for a zero vector, which has no direction.
    """
    terms = cosine_terms(a, b)
    sine = math.sqrt(max(0.0, 1 - terms.cosine**2))
    return np.array([[terms.norm_a, 0.0], [terms.norm_b * terms.cosine, terms.norm_b * sine]])


def unit_rows(matrix: ArrayLike) -> np.ndarray:
    """Return the rows of a matrix (N, C) brought to length 1; a row of zeros stays.

    >>> unit_rows([[3, 4], [0, 0]]).tolist()
    [[0.6, 0.8], [0.0, 0.0]]
    """
    rows = as_matrix(matrix)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(lengths == 0, 1.0, lengths)


def row_cosines(a: ArrayLike, b: ArrayLike) -> np.ndarray:
    """Return the cosine (N,) of each row of a matrix (N, C) with the same row of another.

    Raises: ValueError for unequal shapes.
    """
    left, right = unit_rows(a), unit_rows(b)
    if left.shape != right.shape:
        raise ValueError(f"matrices must have equal shapes; got {left.shape} and {right.shape}")
    return (left * right).sum(axis=1)


def mean_cosine_of_others(
    a: ArrayLike, ids_a: Sequence[int], b: ArrayLike, ids_b: Sequence[int]
) -> float:
    """Return the mean cosine of all rows of two matrices (N, C), (M, C) with unequal ids.

    NaN where there is no such pair: what two different tokens have in common by being tokens.
    """
    different = np.asarray(ids_a)[:, None] != np.asarray(ids_b)[None, :]
    if not different.any():
        return math.nan
    return float((unit_rows(a) @ unit_rows(b).T)[different].mean())


def crowd(matrix: ArrayLike, alike: ArrayLike, above: float = 0.95) -> np.ndarray:
    """Return the rows of a matrix (V, C) that nearly point one way, the way most of them do.

    alike: (V,) cosines with some row. Where they crowd most, the common direction is looked for;
    rows whose cosine with it is above `above` belong to the crowd.
    """
    rows, alike = as_matrix(matrix), np.asarray(alike, dtype=np.float64)
    edges = np.arange(-1, 1.02, 0.01)
    counts, _ = np.histogram(alike[np.isfinite(alike)], edges)
    low = edges[int(counts.argmax())]
    inside = (alike >= low) & (alike < low + 0.01)
    if not inside.any():
        return np.flatnonzero(inside)
    direction = unit_rows(rows[inside].mean(axis=0)[None])[0]
    return np.flatnonzero(unit_rows(rows) @ direction > above)


@dataclass(frozen=True)
class AnalogyScores:
    """How analogies came out: `ranks` (Q,), 1 where the right word was the nearest, `best` (Q,)."""

    ranks: np.ndarray
    best: np.ndarray

    @property
    def right(self) -> float:
        """The share of questions whose nearest word is the right one."""
        return float((self.ranks == 1).mean())


def score_analogies(
    matrix: ArrayLike,
    questions: Sequence[Sequence[int]],
    *,
    exclude_inputs: bool = True,
    step: bool = True,
) -> AnalogyScores:
    """Answer every question (a, b, c, d), a is to b as c is to d: is d nearest to b − a + c?

    matrix: (V, C). questions: Q times four of its rows. The rows are scaled to length 1 first;
    a, b and c are no candidates unless `exclude_inputs` is False. The same as `analogy` for each
    question; a zero row is never the nearest. Without `step` the answer is the row
    nearest to c: it shows how often nearness alone is enough.

    Raises: ValueError when there is no question.

    Reference: Mikolov, Yih, Zweig 2013, section 4; the comparison without a step: Linzen 2016.
    """
    rows, fours = as_matrix(matrix), np.asarray(questions, dtype=np.int64)
    if fours.ndim != 2 or fours.shape[1] != 4 or not len(fours):
        raise ValueError("analogies need at least one question of four rows")
    unit = unit_rows(rows)
    ranks, best = [], []
    for start in range(0, len(fours), LESS_WORK):
        part = fours[start : start + LESS_WORK]
        a, b, c, d = part.T
        targets = unit[c] + (unit[b] - unit[a] if step else 0)
        scores = targets @ unit.T  # (Q, V)
        scores[:, ~rows.any(axis=1)] = -np.inf
        if exclude_inputs:
            np.put_along_axis(scores, part[:, :3], -np.inf, axis=1)
        right = np.take_along_axis(scores, d[:, None], axis=1)
        ranks.append(1 + (scores > right).sum(axis=1))
        best.append(scores.argmax(axis=1))
    return AnalogyScores(np.concatenate(ranks), np.concatenate(best))
