"""Batches for an encoder–decoder: source, target shifted right, target."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from llmviz.nn.loss import IGNORED
from llmviz.tokenizers.base import PADDING
from llmviz.training.data import Epochs, end_id, scored


@dataclass(frozen=True)
class PairData:
    """Encoded sentence pairs in a new random order each epoch, a function of (seed, step)."""

    train: list[tuple[list[int], list[int]]]
    validation: list[tuple[list[int], list[int]]]
    context_length: int  # most tokens of a source, and of a target with its end
    vocab_size: int
    end: int  # opens and closes a target
    pad: int  # fills short sources
    seed: int = 0

    @cached_property
    def _orders(self) -> Epochs:
        return Epochs(len(self.train), self.seed)

    @property
    def longest_row(self) -> int:
        """Most tokens of a source or a target, its end included."""
        return max(max(len(source), len(target) + 1) for source, target in self.train)

    @staticmethod
    def special_ids(tokenizer: Any) -> dict[str, int]:
        """The settings of a Seq2Seq that follow from the tokenizer."""
        end = end_id(tokenizer)
        if PADDING not in tokenizer.special_tokens:
            raise ValueError(
                f"tokenizer must be word or char for a translation, which needs a {PADDING} token; "
                f"got {tokenizer.name!r}"
            )
        return {"pad_id": tokenizer.special_tokens[PADDING], "start_id": end, "end_id": end}

    @classmethod
    def from_pairs(
        cls,
        train: Sequence[tuple[str, str]],
        validation: Sequence[tuple[str, str]],
        tokenizer: Any,
        context_length: int,
        seed: int = 0,
    ) -> PairData:
        """Encode pairs of sentences; ValueError for one that is longer than the context."""
        ids = cls.special_ids(tokenizer)
        encoded = [
            [(tokenizer.encode(source), tokenizer.encode(target)) for source, target in pairs]
            for pairs in (train, validation)
        ]
        for pairs in encoded:
            if not pairs:
                raise ValueError("translation needs at least one pair of sentences in each split")
            longest = max(max(len(source), len(target) + 1) for source, target in pairs)
            if longest > context_length:
                raise ValueError(
                    f"context_length must hold the longest sentence, {longest} tokens; "
                    f"got {context_length}"
                )
        size, (learned, held_out) = tokenizer.vocab_size, encoded
        return cls(learned, held_out, context_length, size, ids["end_id"], ids["pad_id"], seed)

    def batch(self, step: int, rows: int) -> tuple[Tensor, Tensor, Tensor]:
        """Source (rows, S), target shifted right (rows, T) and target (rows, T) of a step."""
        chosen = self._orders.rows(step, rows)
        return self._tensors([self.train[k] for k in chosen])

    def validation_batches(self, rows: int, count: int) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
        """The same `count` batches each time; 0 = all."""
        pairs = self.validation[: rows * count] if count else self.validation
        for first in range(0, len(pairs), rows):
            yield self._tensors(pairs[first : first + rows])

    def count(self, batch: tuple[Tensor, ...]) -> int:
        """How many tokens of the targets carry loss."""
        return scored(batch)

    def _tensors(
        self, pairs: Sequence[tuple[list[int], list[int]]]
    ) -> tuple[Tensor, Tensor, Tensor]:
        width = max(len(source) for source, _ in pairs)
        length = max(len(target) for _, target in pairs) + 1
        source = torch.full((len(pairs), width), self.pad)
        read = torch.full((len(pairs), length), self.end)
        written = torch.full((len(pairs), length), IGNORED)
        for row, (left, right) in enumerate(pairs):
            source[row, : len(left)] = torch.tensor(left)
            read[row, 1 : len(right) + 1] = torch.tensor(right)
            written[row, : len(right) + 1] = torch.tensor([*right, self.end])
        return source, read, written
