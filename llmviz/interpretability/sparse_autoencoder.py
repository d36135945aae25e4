"""A sparse autoencoder: vectors written as sums of a few directions out of many, which it learns.

C numbers of a vector, N features, K of them at most on at once, B vectors. A feature is on where
its value is above 0; its direction has the length 1.

Reference: Makhzani and Frey 2013, "k-Sparse Autoencoders"; Bricken et al. 2023, "Towards
Monosemanticity"; Gao et al. 2024, "Scaling and evaluating sparse autoencoders", section 2.
Deviation: features that are never on are left as they are, so that a page can count them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

BATCH, RATE = 1024, 3e-3
WARM_UP = 0.05  # of all steps
MOMENTS = 40  # that are told of a training
MOST_FEATURES = 1024


@dataclass(frozen=True)
class Recipe:
    """How many features there are, how many may be on at once, and how long it learns.

    Raises ValueError naming the rule and the value.
    """

    features: int = 384
    on: int = 16
    steps: int = 2000
    seed: int = 0

    def __post_init__(self) -> None:
        if not 1 <= self.features <= MOST_FEATURES:
            raise ValueError(f"features must be 1 to {MOST_FEATURES}; got {self.features}")
        if not 1 <= self.on <= self.features:
            raise ValueError(f"on must be 1 to features={self.features}; got {self.on}")
        if self.steps < 1:
            raise ValueError(f"steps must be at least 1; got {self.steps}")


@dataclass(frozen=True, eq=False)
class Dictionary:
    """The features: encoder (C, N), bias (N,), directions (N, C) of length 1, centre (C,)."""

    on: int
    encoder: np.ndarray
    bias: np.ndarray
    directions: np.ndarray
    centre: np.ndarray

    def __len__(self) -> int:
        return len(self.bias)

    def read(self, x: np.ndarray) -> np.ndarray:
        """The value of each feature for vectors x (…, C): (…, N), at most K of them above 0.

        Where several share the place K, all of them are on.
        """
        drive = np.maximum(0.0, (x - self.centre) @ self.encoder + self.bias)
        least = np.partition(drive, -self.on, axis=-1)[..., -self.on, None]
        return np.where(drive >= least, drive, 0.0)

    def write(self, values: np.ndarray) -> np.ndarray:
        """The vectors (…, C) that values (…, N) stand for."""
        return values @ self.directions + self.centre


@dataclass(frozen=True, eq=False)
class Lesson:
    """A training after a step.

    missed: the share of the variance that is not explained, mean of the steps since the last
    lesson. silent: features that were never on since then.
    """

    step: int
    steps: int
    missed: float
    silent: int
    dictionary: Dictionary


def learn(vectors: np.ndarray, recipe: Recipe) -> Iterator[Lesson]:
    """Learn features of vectors (B, C), in float32 or float16, and yield the training as it goes.

    The vectors are read in random order, again and again. The loss is the squared error over the
    variance. Raises ValueError for fewer than two vectors, and for vectors that are all alike.
    """
    import torch

    x = torch.from_numpy(np.ascontiguousarray(vectors))
    if len(x) < 2:
        raise ValueError(f"features are learned from at least 2 vectors; got {len(x)}")
    centre = x.double().mean(0).float()
    scale = float((x.float() - centre).square().sum(1).mean().sqrt())
    if not scale > 0:
        raise ValueError("features cannot be learned from vectors that are all alike")
    generator = torch.Generator().manual_seed(recipe.seed)
    width, n = x.shape[1], recipe.features
    decoder = torch.randn(n, width, generator=generator)
    decoder = (decoder / decoder.norm(dim=1, keepdim=True)).requires_grad_()
    encoder = decoder.detach().t().clone().requires_grad_()
    bias = torch.zeros(n, requires_grad=True)
    shift = torch.zeros(width, requires_grad=True)
    parameters = [encoder, bias, decoder, shift]
    optimizer = torch.optim.Adam(parameters, lr=RATE, betas=(0.9, 0.99))
    due = {round(recipe.steps * part / MOMENTS) for part in range(1, MOMENTS + 1)}
    order, at = torch.randperm(len(x), generator=generator), 0
    missed, fired = [], torch.zeros(n, dtype=torch.bool)
    for step in range(1, recipe.steps + 1):
        optimizer.param_groups[0]["lr"] = RATE * _rate(step, recipe.steps)
        if at >= len(order):
            order, at = torch.randperm(len(x), generator=generator), 0
        rows = order[at : at + BATCH]
        at += BATCH
        batch = (x[rows].float() - centre) / scale
        drive = torch.relu(torch.addmm(bias - shift @ encoder, batch, encoder))
        best = drive.topk(recipe.on, dim=1, sorted=False)
        values = torch.zeros(len(batch), n).scatter(1, best.indices, best.values)
        loss = (torch.addmm(shift, values, decoder) - batch).square().sum(1).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            decoder /= decoder.norm(dim=1, keepdim=True).clamp_min(1e-12)
            missed.append(loss.detach())
            fired |= (values > 0).any(0)
        if step in due:
            share = float(torch.stack(missed).mean())
            learned = _dictionary(recipe.on, encoder, bias, decoder, centre + scale * shift, scale)
            yield Lesson(step, recipe.steps, share, int((~fired).sum()), learned)
            missed, fired = [], torch.zeros(n, dtype=torch.bool)


def _rate(step: int, steps: int) -> float:
    """The learning rate over the highest one: a rise, then a straight fall to 0."""
    rise = max(1.0, WARM_UP * steps)
    return min(step / rise, max(0.0, (steps - step + 1) / max(1.0, steps - rise)))


def _dictionary(on, encoder, bias, decoder, centre, scale) -> Dictionary:
    parts = (encoder, bias * scale, decoder, centre)
    return Dictionary(on, *(part.detach().numpy().copy() for part in parts))
