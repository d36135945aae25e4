"""Landscapes of two weights on which descent can be watched, with their exact gradients.

All take points (…, 2) and treat the leading axes alike, so that a hundred balls roll at once.
They are textbook shapes, not models; a real model goes the same ways in `training.bigram_descent`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

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
