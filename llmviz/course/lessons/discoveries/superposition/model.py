"""The toy model of superposition: more features than dimensions, and which of them it keeps.

N features, M dimensions, S moments. A feature is on with the probability `density`, and is then a
number from 0 to 1. The model writes x (N) into h = W·x (M) and reads x' = relu(Wᵀ·h + b) (N) back.
Its loss is the mean of Σ importance · (x − x')².

Reference: Elhage et al. 2022, "Toy Models of Superposition".

`python -m experiments make superposition` makes the bundled ones again, a few minutes on one
thread: films of D densities and R seeds in `data/experiments/superposition/`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np

from llmviz.files.paths import EXPERIMENT_FOLDER
from llmviz.interpretability.moments import Moments
from llmviz.records import require
from llmviz.training.files import read_json

MOST_FEATURES, MOST_DIMENSIONS = 20, 5
STEPS, BATCH, RATE = 3000, 512, 0.01
MOMENTS = 60  # that are kept of a training
KEPT = 0.5  # a direction of at least this length counts as kept
ALONE = 0.1  # what two directions may have in common, as a cosine, and still be at right angles
FOLDER = EXPERIMENT_FOLDER / "superposition"
FRAMES, CARD = "frames.safetensors", "card.json"
COMMAND = "python -m experiments make superposition"
DENSITIES = (1.0, 0.5, 0.2, 0.1, 0.05, 0.02)
SEEDS = (0, 1, 2)
RATIO = 0.9


@dataclass(frozen=True)
class Toy:
    """What is to be learned: how many features and dimensions, and how often a feature is on.

    ratio: the importance of a feature over that of the one before it; the first has 1.
    Raises ValueError naming the rule and the value.
    """

    features: int = 5
    dimensions: int = 2
    density: float = 0.05
    ratio: float = 1.0
    seed: int = 0

    def __post_init__(self) -> None:
        if not 1 <= self.features <= MOST_FEATURES:
            raise ValueError(f"features must be 1 to {MOST_FEATURES}; got {self.features}")
        if not 1 <= self.dimensions <= MOST_DIMENSIONS:
            raise ValueError(f"dimensions must be 1 to {MOST_DIMENSIONS}; got {self.dimensions}")
        if not 0 < self.density <= 1:
            raise ValueError(f"density must be above 0 and at most 1; got {self.density}")
        if not 0 < self.ratio <= 1:
            raise ValueError(f"ratio must be above 0 and at most 1; got {self.ratio}")

    @property
    def importance(self) -> np.ndarray:
        """How much the error of each feature counts (N,)."""
        return self.ratio ** np.arange(self.features)


@dataclass(frozen=True, eq=False)
class Moment:
    """A model after a step: W (M, N), b (N,), and the loss, mean of the steps since the last one.

    The loss of step 0 is that of the first batch.
    """

    step: int
    steps: int
    loss: float
    directions: np.ndarray
    bias: np.ndarray

    def read(self, x: np.ndarray) -> np.ndarray:
        """What the model reads back of features (…, N)."""
        return np.maximum(0.0, x @ self.directions.T @ self.directions + self.bias)


@dataclass(frozen=True, eq=False)
class Learned(Moments):
    """A training so far: its toy and its moments, at least one."""

    toy: Toy
    moments: Sequence[Moment]

    @cached_property
    def interference(self) -> np.ndarray:
        """Wᵀ·W (N, N): on its diagonal squared lengths, beside it what features share."""
        return self.last.directions.T @ self.last.directions

    @property
    def lengths(self) -> np.ndarray:
        """The length of each feature's direction (N,)."""
        return np.sqrt(np.diag(self.interference))

    @property
    def kept(self) -> np.ndarray:
        """Which features have a direction (N,)."""
        return self.lengths >= KEPT

    @property
    def shared(self) -> np.ndarray:
        """Which features have a direction that is not at right angles to all others kept (N,)."""
        lengths = np.where(self.kept, self.lengths, np.inf)
        cosines = np.abs(self.interference / np.outer(lengths, lengths))
        np.fill_diagonal(cosines, 0)
        return self.kept & (cosines.max(1, initial=0.0) > ALONE)

    @property
    def dimensions_each(self) -> np.ndarray:
        """The share of a dimension that each feature has (N,): 1 alone, 1/2 of two opposite ones.

        It is ‖W_i‖² over Σ_j (Ŵ_i · W_j)²; 0 for a feature without a direction.
        """
        squared = (self.interference**2).sum(1)
        own = np.diag(self.interference) ** 2
        return np.divide(own, squared, out=np.zeros_like(own), where=self.kept)

    @property
    def gaps(self) -> np.ndarray:
        """The angles in degrees between kept directions that are next to each other, in a plane.

        They are sorted, and add up to 360. Raises ValueError where there are not two dimensions.
        """
        if self.toy.dimensions != 2:
            raise ValueError(f"angles are those of a plane; got {self.toy.dimensions} dimensions")
        x, y = self.last.directions[:, self.kept]
        angles = np.sort(np.degrees(np.arctan2(y, x)))
        return np.sort(np.diff(angles, append=angles[:1] + 360))


def moments_of(steps: int) -> list[int]:
    """Return the steps of the moments that are kept, with growing distances; the last is kept.

    >>> moments_of(4)
    [0, 1, 2, 3, 4]
    """
    return sorted({0, *np.geomspace(1, steps, MOMENTS).round().astype(int).tolist()})


def learn(toy: Toy, steps: int = STEPS) -> Iterator[Moment]:
    """Train the model with Adam on new features at each step, and yield its moments."""
    import torch

    generator = torch.Generator().manual_seed(toy.seed)
    n, m = toy.features, toy.dimensions
    w = (torch.randn(m, n, generator=generator) / m**0.5).requires_grad_()
    b = torch.zeros(n, requires_grad=True)
    importance = torch.tensor(toy.importance, dtype=torch.float32)
    optimizer = torch.optim.Adam([w, b], lr=RATE)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    due, losses = set(moments_of(steps)), []
    for step in range(steps + 1):
        x = torch.rand(BATCH, n, generator=generator)
        x = x * (torch.rand(BATCH, n, generator=generator) < toy.density)
        loss = (importance * (x - torch.relu(x @ w.t() @ w + b)) ** 2).sum(1).mean()
        losses.append(loss.item())
        if step in due:
            yield Moment(step, steps, float(np.mean(losses)), _numbers(w), _numbers(b))
            losses = []
        if step < steps:
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()


def _numbers(tensor: Any) -> np.ndarray:
    return tensor.detach().double().numpy().copy()


@cache
def _parts(folder: Path) -> dict[str, np.ndarray]:
    from llmviz.training.tensors import load_tensors

    path = require(folder / FRAMES, COMMAND)
    steps, shape = int(read_json(folder / CARD)["steps"]), (len(DENSITIES), len(SEEDS))
    parts: dict[str, Any] = {name: tensor.numpy() for name, tensor in load_tensors(path).items()}
    names = {"loss", "directions", "bias"}
    if set(parts) != names or parts["loss"].shape != (*shape, len(moments_of(steps))):
        raise ValueError(f"{path} is damaged; `{COMMAND}` makes it again")
    return parts | {"steps": np.array(moments_of(steps))}


def film(density: float, seed: int = 0, folder: Path = FOLDER) -> Learned:
    """Return a bundled training. Raises ValueError where it is missing or damaged."""
    parts = _parts(folder)
    at = DENSITIES.index(density), SEEDS.index(seed)
    columns = (parts[name][at].astype(float) for name in ("loss", "directions", "bias"))
    steps = parts["steps"].tolist()
    rows = zip(steps, *columns, strict=True)
    moments = [Moment(step, steps[-1], float(loss), *arrays) for step, loss, *arrays in rows]
    return Learned(Toy(density=density, ratio=RATIO, seed=seed), moments)
