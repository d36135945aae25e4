"""Logistic regression: one neuron that says yes or no, trained by binary cross-entropy.

N points, two features and a constant 1 each; weights (…, 3): two and the offset.
The bundled question is which letters are vowels, asked of their neighbours in 32,033 names.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from llmviz.training.descent import Descent, descend

VOWELS = "aeiou"
BATCHES = {"batch": None, "mini": 5, "stochastic": 1}  # points in an update; None = all


@dataclass(frozen=True)
class Points:
    """What is to be told apart: names, features x (N, 2) as they are, answers y (N,) of 0 and 1."""

    names: tuple[str, ...]
    features: tuple[str, str]
    x: Tensor
    y: Tensor

    def inputs(self) -> Tensor:
        """The features with mean 0 and deviation 1, and a constant 1 behind them, (N, 3)."""
        scaled = (self.x - self.x.mean(0)) / self.x.std(0, correction=0)
        return torch.cat([scaled, torch.ones(len(self.x), 1, dtype=torch.float64)], dim=1)


class Answer(NamedTuple):
    """The steps from inputs to loss, each (…, N), and the loss's slope at z."""

    z: Tensor  # w₁ x₁ + w₂ x₂ + b
    p: Tensor  # 1 / (1 + e^−z), the probability of yes
    loss: Tensor  # −ln of what the right answer got
    slope: Tensor  # ∂loss/∂z = p − y


def binary_cross_entropy(w: Tensor, inputs: Tensor, y: Tensor) -> Answer:
    """Every step for weights (…, 3) on inputs (N, 3) with answers (N,); nats.

    >>> binary_cross_entropy(torch.zeros(3), torch.ones(1, 3), torch.ones(1)).loss
    tensor([0.6931])
    """
    z = w @ inputs.T  # (…, N)
    right = torch.where(y > 0.5, z, -z)
    return Answer(z, z.sigmoid(), torch.nn.functional.softplus(-right), z.sigmoid() - y)


def vowels() -> Points:
    """The 26 letters: the share of n, and of a, among the letters that follow each in names.

    As square roots, which lie less close to each other near 0.
    """
    from llmviz.corpus import letter_pair_counts
    from llmviz.corpus.counts import LETTERS

    counts = torch.from_numpy(letter_pair_counts()).to(torch.float64)
    shares = counts / counts.sum(1, keepdim=True)
    columns = [LETTERS.index("n"), LETTERS.index("a")]
    letters = LETTERS[1:]
    y = torch.tensor([float(letter in VOWELS) for letter in letters], dtype=torch.float64)
    return Points(tuple(letters), ("followed by n", "followed by a"), shares[1:, columns].sqrt(), y)


def batches(points: int, size: int | None, epochs: int, seed: int = 0) -> list[list[int]]:
    """Which points each update sees: every epoch all of them once, in a new random order.

    Raises ValueError for a size or a number of epochs below 1.
    """
    size = points if size is None else size
    if size < 1 or epochs < 1:
        raise ValueError(f"batches need a size and epochs of at least 1; got {size}, {epochs}")
    generator = np.random.default_rng(seed)
    plan = []
    for _ in range(epochs):
        order = generator.permutation(points).tolist()
        plan += [order[first : first + size] for first in range(0, points, size)]
    return plan


def train_logistic(
    points: Points, rates: Tensor, plan: list[list[int]], optimizer: str = "sgd"
) -> Descent:
    """Train from weights of zero with each rate (L,), one update for each batch of `plan`.

    The losses of the result are means over all points, not over the batch.
    """
    inputs, y = points.inputs(), points.y

    def height(w: Tensor) -> Tensor:
        return binary_cross_entropy(w, inputs, y).loss.mean(-1)

    def gradient(w: Tensor, step: int) -> Tensor:
        own = plan[step]
        slope = binary_cross_entropy(w, inputs[own], y[own]).slope  # (L, n)
        return slope @ inputs[own] / len(own)

    start = torch.zeros(3, dtype=torch.float64)
    return descend(optimizer, height, gradient, start, rates, len(plan))
