"""What is mapped of a table of vectors, and how far a map of it is true.

N points, C numbers in a vector, d dimensions of a map, k neighbours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from llmviz.corpus import word_categories
from llmviz.similarity import VectorTable, neighbour_ids
from llmviz.similarity.trust import neighbour_ranks, trust_of_points

MOST_NEAR = 30  # neighbours of a point that are looked for


@dataclass(frozen=True, eq=False)
class Mapped:
    """The vectors that are mapped, and their true neighbours.

    rows: (N,) of the table. labels: N. kinds: (N,) of `word_categories`, -1 for none. vectors:
    (N, C), of length 1 where nearness is the cosine. left_out: how many rows of zeros, which have
    no direction. ranks: (N, N) place of each among the neighbours of each. near: (N, k) true
    neighbours, nearest first.
    """

    rows: np.ndarray
    labels: list[str]
    kinds: np.ndarray
    vectors: np.ndarray
    left_out: int
    ranks: np.ndarray
    near: np.ndarray

    @property
    def size(self) -> int:
        """N."""
        return len(self.rows)


@dataclass(frozen=True, eq=False)
class Judged:
    """A map and how true it is.

    points: (N, d). near, true: (N, k) neighbours on the map, and in truth. trust: (N,). kept: (N,)
    how many of the true neighbours are neighbours on the map.
    """

    points: np.ndarray
    near: np.ndarray
    true: np.ndarray
    trust: np.ndarray
    kept: np.ndarray

    @property
    def k(self) -> int:
        """Neighbours looked at."""
        return self.near.shape[1]


def mapped(table: VectorTable, points: int, by: str, token_labels: Sequence[str] = ()) -> Mapped:
    """Return what is mapped of a table: `points` tokens, words of known kinds first.

    by: "cosine" or "euclidean", what near means. token_labels: V names for tokens that are no
    words; without them their rows' numbers.
    """
    rows = mapped_rows(table, points)
    vectors = table.matrix[rows].astype(np.float64)
    lengths = np.linalg.norm(vectors, axis=1)
    whole = lengths > 0 if by == "cosine" else np.ones(len(rows), dtype=bool)
    rows, vectors = rows[whole], vectors[whole]
    if by == "cosine":  # at length 1 the order by distance is the order by cosine
        vectors = vectors / lengths[whole, None]
    labels = [
        table.bytes_of[row].decode("utf-8", "replace").strip()
        or (token_labels[row] if token_labels else f"#{row}")
        for row in rows
    ]
    return Mapped(
        rows,
        labels,
        word_kinds(labels),
        vectors,
        int((~whole).sum()),
        neighbour_ranks(vectors).astype(np.int16),  # there are 2,000 points at most
        neighbour_ids(vectors, min(MOST_NEAR, len(rows) - 1)),
    )


def mapped_rows(table: VectorTable, points: int) -> np.ndarray:
    """Return which rows of a table are mapped, at most `points`.

    Words of known kinds come first, one of each kind in turn; then the other whole words, then
    all other tokens, in the order of the table.
    """
    words = table.rows_of_words
    whole = set(table.whole_words)
    kinds = [[words[w] for w in kind if w in whole] for kind in word_categories().values()]
    turns = [
        kind[turn]
        for turn in range(max(map(len, kinds), default=0))
        for kind in kinds
        if turn < len(kind)
    ]
    special = set(table.tokenizer.special_tokens.values())
    others = [words[word] for word in table.whole_words]
    rest = [row for row in range(table.size) if row not in special]
    return np.array(list(dict.fromkeys([*turns, *others, *rest]))[:points], dtype=np.int64)


def word_kinds(words: Sequence[str]) -> np.ndarray:
    """Return the number of each word's kind (N,) in `word_categories`, -1 for a word of none."""
    kind = {word: k for k, members in enumerate(word_categories().values()) for word in members}
    return np.array([kind.get(word, -1) for word in words], dtype=np.int32)


def judge(here: Mapped, points: np.ndarray, k: int, near: np.ndarray | None = None) -> Judged:
    """Return a map (N, d) with the k neighbours of each point on it and in truth.

    near: (N, at least k) neighbours on the map, if they are known. k is lowered to below half of
    the points.
    """
    k = max(1, min(k, (here.size - 1) // 2))
    near = neighbour_ids(points, k) if near is None else near[:, :k]
    kept = (np.take_along_axis(here.ranks, near, axis=1) <= k).sum(axis=1)
    return Judged(points, near, here.near[:, :k], trust_of_points(here.ranks, near), kept)


def of_own_kind(here: Mapped, k: int) -> tuple[float, float]:
    """Return which share of the k true neighbours of a word is of its own kind, and by chance.

    Only words of a known kind are asked about; a neighbour of none is not of the same kind. NaN
    where no kind is known.
    """
    known = np.flatnonzero(here.kinds >= 0)
    if not len(known):
        return float("nan"), float("nan")
    same = here.kinds[here.near[known, :k]] == here.kinds[known, None]
    others = [(here.kinds == here.kinds[i]).sum() - 1 for i in known]
    return float(same.mean()), float(np.mean(others) / (here.size - 1))


def central(here: Mapped, labels: np.ndarray, centers: np.ndarray, cluster: int) -> list[int]:
    """Return the points of a cluster, those near its centre first.

    labels: (N,) cluster of each point. centers: (K, C).
    """
    members = np.flatnonzero(labels == cluster)
    far = np.linalg.norm(here.vectors[members] - centers[cluster], axis=1)
    return members[np.argsort(far, kind="stable")].tolist()
