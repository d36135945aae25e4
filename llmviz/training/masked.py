"""Batches for a masked-word model: rows of a text in which some tokens are hidden.

B rows, T tokens in a row, V ids of the tokenizer.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from llmviz.training.data import IGNORED, scored
from llmviz.training.derived_data import DerivedData

HIDDEN = 0.15  # share of the tokens that are asked for
# Of those: how many are hidden, and how many are replaced by any other token; the rest stay.
MASKED, REPLACED = 0.8, 0.1
SHORTENED = 0.5  # share of the rows that are cut, so that single sentences are read as well
SHORTEST = 6  # tokens of a cut row, at least
# What a batch's randomness is for, beside (seed, step).
TRAINING, VALIDATION = 4, 5


class HiddenSteps(NamedTuple):
    """Which tokens of a batch are asked for, and what stands in their place; all (B, T)."""

    chosen: np.ndarray  # bool
    masked: np.ndarray  # bool, of those asked: the mask token stands there
    replaced: np.ndarray  # bool, of those asked: some other token stands there
    inputs: np.ndarray  # int64, what the model reads
    targets: np.ndarray  # int64, the token itself where it is asked for, −1 elsewhere


def hide_tokens(
    ids: np.ndarray, may: np.ndarray, mask_id: int, vocab_size: int, rng: np.random.Generator
) -> HiddenSteps:
    """Hide a share of the tokens ids (B, T) that `may` (B, T) allows, at least one in a batch.

    vocab_size: ids below it may replace a token.
    Raises ValueError where no token may be hidden.

    Reference: Devlin et al. 2019, "BERT", section 3.1, task 1.
    """
    if not may.any():
        raise ValueError("there is no token that may be hidden")
    picked = may & (rng.random(ids.shape) < HIDDEN)
    if not picked.any():
        picked.flat[rng.choice(np.flatnonzero(may))] = True
    how = rng.random(ids.shape)
    masked = picked & (how < MASKED)
    replaced = picked & (how >= MASKED) & (how < MASKED + REPLACED)
    inputs = np.where(masked, mask_id, ids)
    inputs = np.where(replaced, rng.integers(0, vocab_size, ids.shape), inputs)
    return HiddenSteps(picked, masked, replaced, inputs, np.where(picked, ids, IGNORED))


def hide_any_share(
    ids: np.ndarray, may: np.ndarray, mask_id: int, rng: np.random.Generator
) -> HiddenSteps:
    """Hide in each row of ids (B, T) some of the tokens that `may` (B, T) allows.

    How many is drawn from 1 to all of them, each number as likely, and then which. A row without
    any stays as it is. Nothing is replaced.

    Reference: Ou et al. 2024, "Your Absorbing Discrete Diffusion Secretly Models the Conditional
    Distributions of Clean Data".
    """
    allowed = may.sum(1)
    count = np.where(allowed > 0, rng.integers(1, np.maximum(allowed, 1) + 1), 0)
    chance = np.where(may, rng.random(ids.shape), 2.0)
    masked = may & (chance.argsort(1).argsort(1) < count[:, None])
    nothing = np.zeros_like(masked)
    inputs, targets = np.where(masked, mask_id, ids), np.where(masked, ids, IGNORED)
    return HiddenSteps(masked, masked, nothing, inputs, targets)


@dataclass(frozen=True)
class MaskedData(DerivedData):
    """Rows of documents with hidden tokens; what a batch holds follows from (seed, step) alone.

    Half of the rows are cut to a part of any length. The token between documents is not hidden.
    Validation hides the same tokens each time.
    """

    mask_id: int
    pad_id: int

    def __post_init__(self) -> None:
        if self.text.windows != "padded":
            raise ValueError(
                f'a masked-word model reads a document a row, windows="padded"; '
                f"got {self.text.windows!r}"
            )

    @property
    def vocab_size(self) -> int:
        """Ids of the tokenizer and the two that are no text."""
        return max(self.mask_id, self.pad_id) + 1

    def count(self, batch: tuple[Tensor, ...]) -> int:
        """How many tokens are asked for."""
        return scored(batch)

    def batch(self, step: int, rows: int) -> tuple[Tensor, Tensor]:
        """What is read and what is asked for in update `step`: two int64 tensors (rows, T)."""
        rng = np.random.default_rng((self.text.seed, TRAINING, step))
        return self._hidden(self.text.batch(step, rows), rng)

    def validation_batches(self, rows: int, count: int) -> Iterator[tuple[Tensor, Tensor]]:
        """The same `count` batches each time it is called; 0 = all there is."""
        for number, batch in enumerate(self.text.validation_batches(rows, count), 1):
            yield self._hidden(batch, np.random.default_rng((self.text.seed, VALIDATION, number)))

    def hide(self, ids: np.ndarray, may: np.ndarray, rng: np.random.Generator) -> HiddenSteps:
        """Hide some of the tokens ids (B, T) that `may` (B, T) allows."""
        return hide_tokens(ids, may, self.mask_id, self.text.vocab_size, rng)

    def _hidden(
        self, batch: tuple[Tensor, Tensor], rng: np.random.Generator
    ) -> tuple[Tensor, Tensor]:
        ids, lengths = batch[0].numpy(), (batch[1] != IGNORED).sum(1).numpy()
        first, last = _cut(lengths, rng)
        place = np.arange(ids.shape[1])
        inside = (place >= first[:, None]) & (place < last[:, None])
        end = int(self.text.train.ids[0])
        may = inside & (ids != end)
        may = may if may.any() else inside
        steps = self.hide(ids, may, rng)
        rows = np.where(inside, steps.inputs, self.pad_id)
        # each row begins at its left edge, so that positions count from its first token
        order = (place + first[:, None]) % ids.shape[1]
        width = int((last - first).max())
        read, targets = (
            torch.from_numpy(np.take_along_axis(part, order, 1)[:, :width])
            for part in (rows, steps.targets)
        )
        return read, targets


class DiffusionData(MaskedData):
    """The same with any number of tokens of a row hidden, each number from one to all as likely.

    The loss is the mean over rows, so a batch counts as many as have a hidden token.
    """

    def count(self, batch: tuple[Tensor, ...]) -> int:
        """How many rows have a token that is asked for."""
        return int((batch[-1] != IGNORED).any(1).sum())

    def hide(self, ids: np.ndarray, may: np.ndarray, rng: np.random.Generator) -> HiddenSteps:
        """Hide from one to all of the tokens of each row of ids (B, T) that `may` (B, T) allows."""
        return hide_any_share(ids, may, self.mask_id, rng)


def _cut(lengths: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Where the part of each row that is kept begins and ends, (B,) each."""
    shortest = np.minimum(SHORTEST, lengths)
    kept = rng.integers(shortest, lengths + 1)
    kept = np.where(rng.random(len(lengths)) < SHORTENED, kept, lengths)
    first = rng.integers(0, lengths - kept + 1)
    return first, first + kept
