"""Token streams cut into training windows; which window comes when depends on (seed, step) only.

Because no state is carried from step to step, a run that is resumed in the middle of an epoch sees
exactly the windows it would have seen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor

from llmviz.files.text import ENDOFTEXT
from llmviz.nn.loss import IGNORED
from llmviz.tokenizers.base import PADDING
from llmviz.training.config import ONE_A_ROW, WINDOWS
from llmviz.training.kept_tokens import KeptTokens
from llmviz.training.stream import Epochs, Parts, Stream, encoded

Tell = Callable[[str, int, int, str], object]
"""Hears of work that takes long: its name, how much of it is done, how much there is, of what."""


def nobody(what: str, done: int, total: int, unit: str) -> None:
    """Hear nothing."""


POOL = 8  # updates whose rows are sorted by length together


class Batches(Protocol):
    """What `train` asks of its data: batches are the arguments of the model, targets last."""

    @property
    def vocab_size(self) -> int:
        """V, of the model that reads them."""

    @property
    def context_length(self) -> int:
        """The most tokens of a row."""

    def batch(self, step: int, rows: int) -> tuple[Tensor, ...]:
        """The batch of update `step` (from 1), `rows` sequences."""

    def validation_batches(self, rows: int, count: int) -> Iterator[tuple[Tensor, ...]]:
        """The same `count` batches each time it is called; 0 = all there is."""

    def count(self, batch: tuple[Tensor, ...]) -> int:
        """How many targets of a batch, or of some of its rows, the loss is the mean of."""


def scored(batch: tuple[Tensor, ...]) -> int:
    """How many tokens of a batch's targets carry loss."""
    return int((batch[-1] != IGNORED).sum())


@dataclass(frozen=True)
class TrainData:
    """Training and validation windows over two token streams.

    windows: `random` starts anywhere; `documents` starts at a document's beginning (or a whole
    number of windows into it) and runs on into the next ones; `padded` is one document a row, its
    rest without loss (targets -1), documents longer than the context cut into several rows;
    `sorted` is the same with rows of like length in one batch, so that less of it is padding; a
    batch of short documents then counts as much as one of long ones.
    """

    train: Stream
    validation: Stream
    context_length: int  # tokens in a window
    vocab_size: int
    windows: str = "random"
    seed: int = 0
    _cache: dict[Any, Any] = field(default_factory=dict, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.context_length < 1:
            raise ValueError(f"context_length must be at least 1; got {self.context_length}")
        if self.windows not in WINDOWS[1:]:
            raise ValueError(f"windows must be one of {WINDOWS[1:]}; got {self.windows!r}")
        for name, stream in (("training", self.train), ("validation", self.validation)):
            if len(stream.ids) < 3:
                raise ValueError(f"the {name} text is empty; a longer corpus is needed")
            lowest, highest = stream.range
            if lowest < 0 or highest >= self.vocab_size:
                wrong = lowest if lowest < 0 else highest
                raise ValueError(f"token ids must be in 0 … {self.vocab_size - 1}; got {wrong}")
        if self.windows not in ONE_A_ROW and len(self.train.ids) <= self.context_length:
            raise ValueError(
                f"the training text must be longer than the context; got {len(self.train.ids)} "
                f"tokens for context_length={self.context_length}"
            )

    @property
    def longest_row(self) -> int:
        """Most tokens of a row of a batch: documents of a row each may all be short."""
        if self.windows not in ONE_A_ROW:
            return self.context_length
        return min(self.context_length, int(self.train.lengths.max()))

    @classmethod
    def from_corpus(
        cls,
        corpus: Any,
        tokenizer: Any,
        context_length: int,
        *,
        windows: str = "auto",
        fraction: float = 0.1,
        seed: int = 0,
    ) -> TrainData:
        """Encode a corpus, split by document (a single document: its last `fraction`).

        `windows="auto"` chooses `random` for a single document, `padded` where nine documents of
        ten fit the context, else `documents`.
        """
        train, validation = corpus.split(fraction)
        return cls.from_documents(
            train, validation, tokenizer, context_length, windows=windows, seed=seed
        )

    @classmethod
    def from_documents(
        cls,
        train: Iterable[str],
        validation: Iterable[str],
        tokenizer: Any,
        context_length: int,
        *,
        windows: str = "auto",
        seed: int = 0,
        tell: Tell = nobody,
        kept: KeptTokens | None = None,
    ) -> TrainData:
        """Encode documents of two kinds with one tokenizer; `tell` hears how far that is.

        kept: what is kept of a text of these documents, so that they are encoded once.
        """
        if windows not in WINDOWS:
            raise ValueError(f"windows must be one of {', '.join(WINDOWS)}; got {windows!r}")
        end = end_id(tokenizer)
        done, characters = 0, 0

        def hear(more: int) -> None:
            nonlocal done
            tell("tokenizing", done, characters, "characters")
            done += more

        def parts(documents: Iterable[str]) -> Parts:
            return encoded(documents, tokenizer, hear)

        if kept is None:
            characters = sum(map(len, train)) + sum(map(len, validation))
            streams = Stream.collect(parts(train), end), Stream.collect(parts(validation), end)
        else:
            characters = kept.characters
            streams = kept.streams(tokenizer, lambda: parts(train), lambda: parts(validation))
        if windows == "auto":
            windows = _suitable_windows(streams[0], context_length)
        learned, held_out = streams
        return cls(learned, held_out, context_length, tokenizer.vocab_size, windows, seed)

    @property
    def rows_per_epoch(self) -> int:
        """How many rows show all of the training text once (`random`: on average)."""
        if self.windows == "random":
            return max(1, len(self.train.ids) // self.context_length)
        return len(self._starts("train")[0])

    def batch(self, step: int, rows: int) -> tuple[Tensor, Tensor]:
        """Inputs and targets of update `step`: two int64 tensors (rows, T), T <= context_length.

        Documents come in a new random order each epoch. `padded` and `sorted` batches are as wide
        as their longest document.
        """
        if self.windows == "random":
            highest = len(self.train.ids) - self.context_length
            starts = np.random.default_rng((self.seed, step)).integers(0, highest, rows)
            return self._windows(self.train, starts)
        if "epochs" not in self._cache:
            self._cache["epochs"] = Epochs(self.rows_per_epoch, self.seed)
        if self.windows == "sorted":
            return self._rows("train", self._alike(step, rows))
        return self._rows("train", self._cache["epochs"].rows(step, rows))

    def _alike(self, step: int, rows: int) -> np.ndarray:
        """The rows of an update: those of POOL updates, sorted by length and dealt out anew."""
        pool, place = divmod(step - 1, POOL)
        kept = self._cache.get("pool")
        if kept is None or kept[0] != (pool, rows):
            steps = range(pool * POOL + 1, (pool + 1) * POOL + 1)
            chosen = np.concatenate([self._cache["epochs"].rows(update, rows) for update in steps])
            lengths = self._starts("train")[1][chosen]
            groups = chosen[np.argsort(lengths, kind="stable")].reshape(POOL, rows)
            order = np.random.default_rng((self.seed, 2, pool)).permutation(POOL)
            self._cache["pool"] = kept = (pool, rows), groups[order]
        return kept[1][place]

    def validation_batches(self, rows: int, count: int) -> Iterator[tuple[Tensor, Tensor]]:
        """`count` batches (0 = all) of `rows` rows, the same each time."""
        if self.windows == "random":
            length = min(self.context_length, len(self.validation.ids) - 1)
            starts = np.arange(0, len(self.validation.ids) - length, length)
            order = np.random.default_rng((self.seed, 0)).permutation(len(starts))
        else:
            total = len(self._starts("validation")[0])
            order = np.random.default_rng((self.seed, 0)).permutation(total)
        if count:
            order = order[: rows * count]
        for first in range(0, len(order), rows):
            chosen = order[first : first + rows]
            if self.windows == "random":
                yield self._windows(self.validation, starts[chosen])
            else:
                yield self._rows("validation", chosen)

    def count(self, batch: tuple[Tensor, ...]) -> int:
        """How many tokens of the targets carry loss."""
        return scored(batch)

    def _starts(self, split: str) -> tuple[np.ndarray, np.ndarray]:
        if split not in self._cache:
            self._cache[split] = getattr(self, split).rows(self.context_length)
        return self._cache[split]

    def _rows(self, split: str, chosen: np.ndarray) -> tuple[Tensor, Tensor]:
        starts, lengths = self._starts(split)
        stream = getattr(self, split)
        if self.windows == "documents":
            return self._windows(stream, starts[chosen])
        return self._windows(stream, starts[chosen], lengths[chosen])

    def _windows(
        self, stream: Stream, starts: np.ndarray, lengths: np.ndarray | None = None
    ) -> tuple[Tensor, Tensor]:
        width = self.context_length if lengths is None else int(lengths.max())
        width = min(width, len(stream.ids) - 1)
        at = starts[:, None] + np.arange(width + 1)
        beyond = at >= len(stream.ids)
        window = stream.ids[np.where(beyond, len(stream.ids) - 1, at)].astype(np.int64)
        inputs, targets = window[:, :-1].copy(), window[:, 1:].copy()
        targets[beyond[:, 1:]] = IGNORED
        if lengths is not None:
            past = np.arange(width) >= lengths[:, None]
            targets[past] = IGNORED
            inputs[past] = stream.ids[0]  # the joining id; what stands here is never scored
        return torch.from_numpy(inputs), torch.from_numpy(targets)


def end_id(tokenizer: Any) -> int:
    """The id that joins documents; ValueError for a tokenizer without one."""
    try:
        return tokenizer.end
    except KeyError:
        raise ValueError(f"tokenizer {tokenizer.name!r} has no {ENDOFTEXT} token") from None


def padding_ids(tokenizer: Any) -> tuple[int, ...]:
    """The ids that only fill up rows; no text holds them, so no model is to write them."""
    special = tokenizer.special_tokens
    return (special[PADDING],) if PADDING in special else ()


def _suitable_windows(stream: Stream, context_length: int) -> str:
    if len(stream.lengths) <= 1:
        return "random"
    fitting = np.mean(stream.lengths <= context_length)
    return "padded" if fitting >= 0.9 else "documents"
