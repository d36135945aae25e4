"""A text as one stream of token ids, and the order in which its rows come."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


class Epochs:
    """Rows in a new random order each epoch, as a function of the seed and the step alone."""

    def __init__(self, count: int, seed: int) -> None:
        self.count, self.seed = count, seed
        self._orders: dict[int, np.ndarray] = {}

    def rows(self, step: int, rows: int) -> np.ndarray:
        """Which rows make the batch of update `step` (from 1), int64 (rows,)."""
        first = (step - 1) * rows
        wanted = range(first, first + rows)
        return np.array([self._order(k // self.count)[k % self.count] for k in wanted])

    def _order(self, epoch: int) -> np.ndarray:
        if epoch not in self._orders:
            self._orders.pop(epoch - 2, None)
            generator = np.random.default_rng((self.seed, 1, epoch))
            self._orders[epoch] = generator.permutation(self.count)
        return self._orders[epoch]


@dataclass(frozen=True)
class Stream:
    """Documents as one line of token ids: `end d1 … end d2 … end`.

    `ids` is int32 (N,); `starts` the positions of the `end` that opens each document and `lengths`
    the number of targets it holds (its tokens and the `end` that closes it), int64 (documents,).
    """

    ids: np.ndarray
    starts: np.ndarray
    lengths: np.ndarray

    def rows(self, context_length: int) -> tuple[np.ndarray, np.ndarray]:
        """Where rows begin and how many targets each holds: documents in pieces of the context."""
        pieces = -(-self.lengths // context_length)
        which = np.repeat(np.arange(len(pieces)), pieces)
        piece = np.arange(len(which)) - np.repeat(np.cumsum(pieces) - pieces, pieces)
        starts = self.starts[which] + piece * context_length
        return starts, np.minimum(context_length, self.lengths[which] - piece * context_length)

    @classmethod
    def join(cls, documents: Sequence[Sequence[int] | np.ndarray], end: int) -> Stream:
        """Join encoded documents by the id `end`; empty documents are left out."""
        kept = [np.asarray(document, dtype=np.int32) for document in documents if len(document)]
        lengths = np.array([len(document) + 1 for document in kept], dtype=np.int64)
        ids = np.full(int(lengths.sum()) + 1, end, dtype=np.int32)
        starts = np.concatenate([[0], np.cumsum(lengths)])[:-1].astype(np.int64)
        for start, document in zip(starts, kept, strict=True):
            ids[start + 1 : start + 1 + len(document)] = document
        return cls(ids, starts, lengths)
