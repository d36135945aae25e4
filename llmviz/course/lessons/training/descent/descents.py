"""The descents of the lesson on training: each from one start, at every rate of its slider.

L learning rates, S steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from torch import Tensor

    from llmviz.training.descent import Descent
    from llmviz.training.one_number import Guess
    from llmviz.training.optimizers import Hyper


@dataclass(frozen=True)
class Rates:
    """`count` learning rates from `low` to `high`, each larger than the last by one factor."""

    low: float
    high: float
    count: int

    def values(self) -> Tensor:
        """The rates (L,)."""
        from llmviz.training.descent import rates_between

        return rates_between(self.low, self.high, self.count)


def length_descent(start: float, rates: Rates, steps: int) -> tuple[Guess, Descent]:
    """Return the model of one number, the guessed length of a name, and its gradient descent."""
    import torch

    from llmviz.training.descent import descend
    from llmviz.training.one_number import name_lengths

    guess = name_lengths()
    place = torch.tensor([start], dtype=torch.float64)
    return guess, descend("sgd", guess.height, guess.gradient, place, rates.values(), steps)


def surface_descent(
    surface: str,
    start: tuple[float, float],
    optimizer: str,
    rates: Rates,
    steps: int,
    hyper: Hyper,
) -> Descent:
    """Return an optimizer's paths down one of the surfaces of two weights."""
    import torch

    from llmviz.training.descent import descend
    from llmviz.training.surfaces import SURFACES

    field = SURFACES[surface]
    place = torch.tensor(start, dtype=torch.float64)
    return descend(optimizer, field.height, field.gradient, place, rates.values(), steps, hyper)


def bigram_descent(
    optimizer: str, watched: tuple[str, str], rates: Rates, steps: int, hyper: Hyper
) -> Descent:
    """Return an optimizer's paths on the bigram of names, with one weight of it that is watched.

    watched: the score of the second letter after the first.
    """
    from llmviz.corpus.counts import LETTERS
    from llmviz.training.bigram_descent import names_bigram
    from llmviz.training.descent import descend

    bigram = names_bigram()
    row, column = (LETTERS.index(letter) for letter in watched)
    return descend(
        optimizer,
        bigram.height,
        bigram.gradient,
        bigram.start(),
        rates.values(),
        steps,
        hyper,
        watched=[row * len(LETTERS) + column],
    )


def vowel_descents(
    seed: int, rates: Rates, epochs: int
) -> dict[str, tuple[Descent, list[list[int]]]]:
    """Return for each kind of batch the paths of the vowel neuron, and the points of each step."""
    from llmviz.training.logistic import BATCHES, batches, train_logistic, vowels

    points, values = vowels(), rates.values()
    plans = {kind: batches(len(points.names), size, epochs, seed) for kind, size in BATCHES.items()}
    return {kind: (train_logistic(points, values, plan), plan) for kind, plan in plans.items()}


def points_seen(plan: Sequence[Sequence[int]]) -> np.ndarray:
    """Return after how many points each step is done, (S + 1,), with 0 for the start."""
    return np.cumsum([0, *(len(batch) for batch in plan)])
