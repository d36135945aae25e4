"""What descent can be watched on, each with its exact gradient.

Landscapes of two weights: points (…, 2), the leading axes alike, so that a hundred balls roll at
once. They are textbook shapes, not models.

The smallest model there is: one weight that guesses a number, with the squared error as loss.

Logistic regression: one neuron that says yes or no, trained by binary cross-entropy. N points, two
features and a constant 1 each; weights (…, 3): two and the offset. The bundled question is which
letters are vowels, asked of their neighbours in 32,033 names.

A real language model that is small enough to be trained at many learning rates at once: one layer
of 27 × 27 logits on the letter pairs of 32,033 names, all of them in every step. The lowest loss it
can have is known: that of the counted bigram.
"""

from __future__ import annotations

import math
from collections.abc import Callable
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


@dataclass(frozen=True)
class BigramLoss:
    """Loss and gradient of the logits (…, V·V) of a bigram on counted pairs, in nats per pair."""

    counts: Tensor  # (V, V) how often column followed row

    @property
    def floor(self) -> float:
        """The loss of the bigram that was counted on these pairs: no logits do better."""
        shares = self.counts / self.counts.sum(1, keepdim=True).clamp(min=1)
        seen = self.counts > 0
        return -float((self.counts[seen] * shares[seen].log()).sum() / self.counts.sum())

    def start(self) -> Tensor:
        """Logits of zero, (V·V,): every letter as likely as any other."""
        return torch.zeros(self.counts.numel(), dtype=torch.float64)

    def height(self, w: Tensor) -> Tensor:
        """Mean −ln p of the pairs, (…,)."""
        log_p = self._square(w).log_softmax(-1)
        return -(log_p * self.counts).sum((-1, -2)) / self.counts.sum()

    def gradient(self, w: Tensor, step: int = 0) -> Tensor:
        """(how often the row came) × (its probabilities − its shares), over all pairs, (…, V·V)."""
        p = self._square(w).softmax(-1)
        rows = self.counts.sum(1, keepdim=True)
        return ((rows * p - self.counts) / self.counts.sum()).flatten(-2)

    def _square(self, w: Tensor) -> Tensor:
        return w.unflatten(-1, self.counts.shape)


def names_bigram() -> BigramLoss:
    """The bigram of the bundled letter pairs."""
    from llmviz.corpus import letter_pair_counts

    return BigramLoss(torch.from_numpy(letter_pair_counts()).to(torch.float64))


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


Field = Callable[[Tensor], Tensor]


@dataclass(frozen=True)
class Surface:
    """A loss over two weights.

    height (…, 2) → (…,) and slope (…, 2) → (…, 2), its gradient. `low` and `high` are the corners
    of what is drawn, `start` where the ball is set down, `minima` the lowest points, `floor` their
    height.
    """

    formula: str
    height: Field
    slope: Field
    low: tuple[float, float]
    high: tuple[float, float]
    start: tuple[float, float]
    minima: tuple[tuple[float, float], ...]
    floor: float

    def gradient(self, point: Tensor, step: int = 0) -> Tensor:
        """The slope (…, 2); it is the same at every step, as `descend` asks."""
        return self.slope(point)

    def contains(self, point: tuple[float, float]) -> bool:
        """Whether a point is on the part that is drawn."""
        return all(a <= x <= b for a, x, b in zip(self.low, point, self.high, strict=True))

    def grid(self, columns: int, rows: int) -> Tensor:
        """Heights (rows, columns) on an even grid from `low` to `high`, the lowest y first."""
        x = torch.linspace(self.low[0], self.high[0], columns, dtype=torch.float64)
        y = torch.linspace(self.low[1], self.high[1], rows, dtype=torch.float64)
        return self.height(torch.stack(torch.meshgrid(x, y, indexing="xy"), dim=-1))


def _quadratic(a: float, b: float) -> tuple[Field, Field]:
    """½ (a x² + b y²) and its gradient; a and b are the curvatures."""
    curvature = torch.tensor([a, b], dtype=torch.float64)
    return (
        lambda w: 0.5 * (curvature.to(w) * w * w).sum(-1),
        lambda w: curvature.to(w) * w,
    )


def _turned(a: float, b: float, degrees: float) -> tuple[Field, Field]:
    """The same with its axes turned: no weight has the steep direction to itself."""
    angle = math.radians(degrees)
    turn = torch.tensor(
        [[math.cos(angle), math.sin(angle)], [-math.sin(angle), math.cos(angle)]],
        dtype=torch.float64,
    )
    height, gradient = _quadratic(a, b)
    return (
        lambda w: height(w @ turn.T.to(w)),
        lambda w: gradient(w @ turn.T.to(w)) @ turn.to(w),
    )


def _saddle(w: Tensor) -> Tensor:
    x, y = w.unbind(-1)
    return 0.5 * x * x - 0.5 * y * y + 0.25 * y**4


def _saddle_gradient(w: Tensor) -> Tensor:
    x, y = w.unbind(-1)
    return torch.stack([x, y**3 - y], dim=-1)


def _two_valleys(w: Tensor) -> Tensor:
    x, y = w.unbind(-1)
    return 0.25 * (x * x - 1) ** 2 + 0.15 * x + 0.5 * y * y


def _two_valleys_gradient(w: Tensor) -> Tensor:
    x, y = w.unbind(-1)
    return torch.stack([x * (x * x - 1) + 0.15, y], dim=-1)


def _deeper_valley() -> tuple[float, float]:
    """The lower of the two minima: the smallest root of x³ − x + 0.15 = 0, by Newton's steps."""
    x = -1.0
    for _ in range(50):
        x -= (x**3 - x + 0.15) / (3 * x * x - 1)
    return x, 0.0


_DEEPER = _deeper_valley()

SURFACES: dict[str, Surface] = {
    "bowl": Surface(
        "½ x² + y²",
        *_quadratic(1.0, 2.0),
        low=(-3.0, -2.0),
        high=(3.0, 2.0),
        start=(-2.4, 1.6),
        minima=((0.0, 0.0),),
        floor=0.0,
    ),
    "ravine": Surface(
        "½ · 0.2 u² + ½ · 12 v², turned by 20°",
        *_turned(0.2, 12.0, 20.0),
        low=(-4.6, -2.5),
        high=(2.0, 1.9),
        start=(-4.1, -0.7),
        minima=((0.0, 0.0),),
        floor=0.0,
    ),
    "saddle": Surface(
        "½ x² − ½ y² + ¼ y⁴",
        _saddle,
        _saddle_gradient,
        low=(-2.4, -1.6),
        high=(2.4, 1.6),
        start=(-2.0, 0.01),
        minima=((0.0, -1.0), (0.0, 1.0)),
        floor=-0.25,
    ),
    "valleys": Surface(
        "¼ (x² − 1)² + 0.15 x + ½ y²",
        _two_valleys,
        _two_valleys_gradient,
        low=(-1.8, -1.2),
        high=(1.8, 1.2),
        start=(1.6, 0.9),
        minima=(_DEEPER,),
        floor=float(_two_valleys(torch.tensor(_DEEPER, dtype=torch.float64))),
    ),
}
