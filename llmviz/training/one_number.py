"""The smallest model there is: one weight that guesses a number, with the squared error as loss."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class Guess:
    """Guessing each of some numbers (N,) by one weight (…, 1): the loss is a parabola.

    Its lowest point is the mean of the numbers, its lowest value their variance, and its
    curvature 2, so a step of rate lr leaves 1 − 2 lr of the distance.
    """

    numbers: Tensor

    @property
    def best(self) -> float:
        """The weight with the lowest loss."""
        return float(self.numbers.mean())

    @property
    def floor(self) -> float:
        """The lowest loss."""
        return float(self.numbers.var(correction=0))

    def height(self, w: Tensor) -> Tensor:
        """Mean of (w − number)², (…,)."""
        return (w - self.numbers).square().mean(-1)

    def gradient(self, w: Tensor, step: int = 0) -> Tensor:
        """Mean of 2 (w − number), (…, 1)."""
        return 2 * (w - self.numbers).mean(-1, keepdim=True)


def name_lengths() -> Guess:
    """How many letters the bundled names have."""
    from llmviz.corpus import load_corpus

    lengths = [float(len(name)) for name in load_corpus("names").documents]
    return Guess(torch.tensor(lengths, dtype=torch.float64))
