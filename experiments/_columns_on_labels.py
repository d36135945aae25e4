"""How well single numbers tell labels: the best column and threshold for each, and their F1.

T tokens, N columns of numbers, K labels. A column says that a label is on where its number is above
a threshold. Column and threshold are chosen on some tokens and measured on others.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

SHARES = np.geomspace(5e-4, 0.9, 24)  # of the tokens that are above a threshold, one after another
AT_ONCE = 256  # columns


@dataclass(frozen=True, eq=False)
class Chosen:
    """The best column for each label (K,), its threshold, and F1 where it was chosen."""

    columns: np.ndarray
    thresholds: np.ndarray
    f1: np.ndarray


def f1_scores(on: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return F1 of each column of on (T, K) for the same column of labels (T, K), bool both.

    It is 2·hits / (said + there); 0 where nothing is said and nothing is there.
    Reference: van Rijsbergen 1979, "Information Retrieval", chapter 7.
    """
    hits = (on & labels).sum(0)
    total = on.sum(0) + labels.sum(0)
    return np.divide(2.0 * hits, total, out=np.zeros(len(hits)), where=total > 0)


def choose(values: np.ndarray, labels: np.ndarray) -> Chosen:
    """Return for each label the column of values (T, N) and the threshold with the highest F1.

    Tried are thresholds that so many tokens are above as SHARES say, and 0 where a column is often
    0. A tie goes to the first column, and to its first threshold.
    """
    tokens, count = labels.shape
    wanted = labels.astype(np.float32)
    there = wanted.sum(0)[:, None]  # (K, 1)
    best = np.full(count, -1.0)
    columns, thresholds = np.zeros(count, int), np.zeros(count)
    ranks = tokens - 1 - np.minimum(tokens - 1, np.round(SHARES * tokens)).astype(int)
    for first in range(0, values.shape[1], AT_ONCE):
        part = np.ascontiguousarray(values[:, first : first + AT_ONCE])
        borders = np.partition(part, np.unique(ranks), axis=0)[ranks]  # (thresholds, N)
        for border in borders:
            on = (part > border).astype(np.float32)
            said = on.sum(0)[None]
            f1 = 2 * (wanted.T @ on) / np.maximum(said + there, 1)  # (K, N)
            column = f1.argmax(1)
            value = f1[np.arange(count), column]
            better = value > best
            best[better] = value[better]
            columns[better] = first + column[better]
            thresholds[better] = border[column[better]]
    return Chosen(columns, thresholds, best)


def measured(chosen: Chosen, values: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return the F1 (K,) of chosen columns on other tokens: values (T, N), labels (T, K)."""
    return f1_scores(values[:, chosen.columns] > chosen.thresholds, labels)


def readings(stream: np.ndarray, labels: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Return one number a label for each row of other (T, K): a weighted sum of all its numbers.

    The weights are those of least squares on marks of 0 and 1 for stream (T, C) and labels (T, K),
    with a small ridge.
    """
    mean = stream.mean(0)
    x = (stream - mean).astype(float)
    square = x.T @ x
    square += np.eye(len(square)) * 1e-6 * np.trace(square) / len(square)
    weights = np.linalg.solve(square, x.T @ (labels - labels.mean(0)))
    return (other - mean) @ weights
