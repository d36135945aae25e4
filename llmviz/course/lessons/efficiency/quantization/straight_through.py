"""The straight-through estimator in numbers: the staircase, the gradient, one weight that learns.

N weights.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from llmviz.quantization.scheme import TENSOR, Scheme

REACH, BEYOND = 1.0, 2.0  # where the grid of the picture ends, and the largest weight in it
POINTS = 601


@dataclass(frozen=True, eq=False)
class Staircase:
    """Weights (N,), what they are rounded to, and the gradient that comes to each from 1."""

    weights: np.ndarray
    rounded: np.ndarray
    gradient: np.ndarray


@dataclass(frozen=True)
class Update:
    """One update of one weight: exact and rounded value, loss, and both gradients."""

    weight: float
    rounded: float
    loss: float
    at_rounded: float  # of the loss by the rounded weight
    at_weight: float  # what comes through to the exact weight
    slope: float  # of the loss by the exact weight as it is: a small step of it, measured


def picture_scheme(bits: int) -> Scheme:
    """The grid of the picture: symmetric, with its end at REACH for weights up to BEYOND."""
    return Scheme(bits, symmetric=True, per=TENSOR, clip=REACH / BEYOND)


def staircase(bits: int) -> Staircase:
    """Return the forward and the backward pass for weights from −BEYOND to BEYOND."""
    import torch

    from llmviz.quantization.qat import fake_quantize

    w = torch.linspace(-BEYOND, BEYOND, POINTS)[None].requires_grad_(True)
    rounded = fake_quantize(w, picture_scheme(bits))
    rounded.sum().backward()
    assert w.grad is not None
    arrays = (tensor.detach()[0].double().numpy() for tensor in (w, rounded, w.grad))
    return Staircase(*arrays)


def walk(bits: int, start: float, target: float, rate: float, updates: int) -> list[Update]:
    """Train one weight so that its rounded value comes near a target: loss ½ (rounded − target)².

    rate: of plain gradient descent. The first entry is before any update.
    """
    import torch

    from llmviz.quantization.qat import fake_quantize

    scheme = picture_scheme(bits)
    ends = [BEYOND, -BEYOND]  # they hold the grid where it is
    w, steps = torch.tensor(start), []
    for _ in range(updates + 1):
        row = torch.stack([*map(torch.tensor, ends), w])[None].requires_grad_(True)
        rounded = fake_quantize(row, scheme)
        rounded.retain_grad()
        loss = 0.5 * (rounded[0, 2] - target) ** 2
        loss.backward()
        assert rounded.grad is not None and row.grad is not None
        small = 1e-4
        with torch.no_grad():
            moved = row.detach().clone()
            moved[0, 2] += small
            other = 0.5 * (fake_quantize(moved, scheme)[0, 2] - target) ** 2
        at_rounded, at_weight = rounded.grad[0, 2], row.grad[0, 2]
        values = [w, rounded[0, 2], loss, at_rounded, at_weight, (other - loss.detach()) / small]
        steps.append(Update(*(value.item() for value in values)))
        w = (w - rate * at_weight).clamp(-BEYOND, BEYOND).detach()
    return steps
