"""A text as one stream of token ids, and the order in which its rows come."""

from __future__ import annotations

import io
import threading
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np

from llmviz.corpus.pieces import recut
from llmviz.corpus.streamed import pieces_in

Parts = Iterable[tuple[Sequence[int] | np.ndarray, bool]]
"""Ids of documents in parts, and whether a document ends with them."""

BLOCK = 1 << 20  # characters of a long document that are encoded at once


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


class StoredIds:
    """Token ids in a file, int32 (N,), which are read where they are asked for.

    It is not mapped: cut off by somebody, a mapped file ends the process in place of a ValueError.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = path.open("rb")
        self._count = path.stat().st_size // np.dtype(np.int32).itemsize
        self._lock = threading.Lock()  # one place in the file for all threads

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, at: int | slice | np.ndarray) -> np.ndarray:
        """Ids as an array gives them; places count from 0, and those of a row are read at once."""
        if isinstance(at, slice):
            start, stop, step = at.indices(len(self))
            return self._read(start, max(start, stop)) if step == 1 else self[:][at]
        places = np.asarray(at)
        rows = places.reshape(-1, places.shape[-1] if places.ndim > 1 else 1)
        read = [self._read(row.min(), row.max() + 1)[row - row.min()] for row in rows]
        return np.array(read, dtype=np.int32).reshape(places.shape)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return self[:].astype(dtype or np.int32, copy=False)

    def _read(self, start: int, stop: int) -> np.ndarray:
        ids = np.empty(stop - start, dtype=np.int32)
        with self._lock:
            self._file.seek(int(start) * ids.itemsize)
            read = self._file.readinto(ids.data.cast("B"))
        if read != ids.nbytes:
            raise ValueError(f"{self.path} was changed while it was read: it lacks ids")
        return ids


@dataclass(frozen=True)
class Stream:
    """Documents as one line of token ids: `end d1 … end d2 … end`.

    `ids` is int32 (N,); `starts` the positions of the `end` that opens each document and `lengths`
    the number of targets it holds (its tokens and the `end` that closes it), int64 (documents,).
    """

    ids: np.ndarray | StoredIds
    starts: np.ndarray
    lengths: np.ndarray
    known_range: tuple[int, int] | None = None

    @property
    def range(self) -> tuple[int, int]:
        """The lowest and the highest id."""
        return self.known_range or (int(np.min(self.ids)), int(np.max(self.ids)))

    def rows(self, context_length: int) -> tuple[np.ndarray, np.ndarray]:
        """Where rows begin and how many targets each holds: documents in pieces of the context."""
        pieces = -(-self.lengths // context_length)
        which = np.repeat(np.arange(len(pieces)), pieces)
        piece = np.arange(len(which)) - np.repeat(np.cumsum(pieces) - pieces, pieces)
        starts = self.starts[which] + piece * context_length
        return starts, np.minimum(context_length, self.lengths[which] - piece * context_length)

    @classmethod
    def of(
        cls, ids: np.ndarray | StoredIds, lengths: np.ndarray, known: tuple[int, int] | None
    ) -> Stream:
        """The stream of what was written. known: its range."""
        starts = np.concatenate([[0], np.cumsum(lengths)])[:-1].astype(np.int64)
        return cls(ids, starts, lengths, known)

    @classmethod
    def join(cls, documents: Iterable[Sequence[int] | np.ndarray], end: int) -> Stream:
        """Join encoded documents by the id `end`; empty documents are left out."""
        return cls.collect(((document, True) for document in documents), end)

    @classmethod
    def collect(cls, parts: Parts, end: int) -> Stream:
        """Join documents that come in parts, in memory."""
        file = io.BytesIO()
        written = write_ids(parts, end, file)
        ids = np.frombuffer(file.getbuffer(), np.int32)
        return cls.of(ids, written.lengths, written.range)


@dataclass(frozen=True)
class Written:
    """What was written of a stream: the lengths of its documents, its range."""

    lengths: np.ndarray
    range: tuple[int, int]


def write_ids(parts: Parts, end: int, file: IO[bytes]) -> Written:
    """Write documents as one line of ids to a file; those without ids are left out."""
    lengths, length, lowest, highest = array("q"), 0, end, end

    def write(ids: np.ndarray) -> None:
        nonlocal lowest, highest
        file.write(ids.view(np.uint8).data)
        lowest, highest = min(lowest, int(ids.min())), max(highest, int(ids.max()))

    between = np.array([end], dtype=np.int32)
    write(between)
    for part, ends in parts:
        ids = np.array(part, dtype=np.int32)
        if len(ids):
            write(ids)
            length += len(ids)
        if ends and length:
            write(between)
            lengths.append(length + 1)
            length = 0
    return Written(np.array(lengths, dtype=np.int64), (lowest, highest))


def encoded(
    documents: Iterable[str], tokenizer: Any, hear: Callable[[int], object]
) -> Iterator[tuple[Sequence[int], bool]]:
    """Encode documents, long ones in parts. hear: is told how many characters are encoded next."""
    for text, ends in recut(pieces_in(documents), tokenizer.cut, BLOCK):
        hear(len(text))
        yield tokenizer.encode(text), ends
