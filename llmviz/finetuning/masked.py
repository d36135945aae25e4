"""Texts of which only some tokens are scored, and the batches of them that `train` takes."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from llmviz.nn.loss import IGNORED
from llmviz.training.data import scored


class Scored(NamedTuple):
    """One token of an example, and whether the loss counts it."""

    id: int
    counts: bool


def masked_batch(rows: Sequence[Sequence[Scored]], filler: int) -> tuple[Tensor, Tensor]:
    """Return inputs and targets, int64 (B, T): target t is token t + 1, or −1 where none counts.

    >>> masked_batch([[Scored(9, False), Scored(4, False), Scored(7, True)]], 0)
    (tensor([[9, 4]]), tensor([[-1,  7]]))
    """
    width = max(len(row) for row in rows) - 1
    inputs = torch.full((len(rows), width), filler)
    targets = torch.full((len(rows), width), IGNORED)
    for number, row in enumerate(rows):
        inputs[number, : len(row) - 1] = torch.tensor([token.id for token in row[:-1]])
        kept = [token.id if token.counts else IGNORED for token in row[1:]]
        targets[number, : len(kept)] = torch.tensor(kept)
    return inputs, targets


@dataclass(frozen=True)
class MaskedData:
    """Batches of examples, and with probability `mix` a batch of plain texts in place of one.

    Plain texts are scored at every token, as in pretraining: some of them mixed in keep the model
    from forgetting them. Which step has which depends on the seed and the step alone.
    """

    rows: tuple[tuple[Scored, ...], ...]
    held_out: tuple[tuple[Scored, ...], ...]
    plain: tuple[tuple[Scored, ...], ...]
    filler: int
    vocab_size: int
    context_length: int
    mix: float = 0.0
    seed: int = 0

    def batch(self, step: int, rows: int) -> tuple[Tensor, Tensor]:
        """Inputs and targets of update `step` (from 1), int64 (rows, T)."""
        chance = random.Random(f"{self.seed} {step}")
        source = self.plain if chance.random() < self.mix else self.rows
        return masked_batch(chance.choices(source, k=rows), self.filler)

    def validation_batches(self, rows: int, count: int) -> Iterator[tuple[Tensor, Tensor]]:
        """The first `count` batches (0 = all) of the held-out examples."""
        starts = range(0, len(self.held_out), rows)
        for first in list(starts)[: count or None]:
            yield masked_batch(self.held_out[first : first + rows], self.filler)

    def count(self, batch: tuple[Tensor, ...]) -> int:
        """How many tokens carry loss."""
        return scored(batch)
