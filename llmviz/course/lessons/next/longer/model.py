"""How far the pairs of a rotary head turn."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from llmviz.course.lessons.next.longer.longer_record import TIMES

if TYPE_CHECKING:
    from torch import Tensor

SIZE, BASE = 16, 10_000.0  # numbers of a head of these models, and the base of their turns


def marks(context: int) -> list[tuple[float, str]]:
    """Return the marks of the axis of places: whole contexts."""
    return [(n * context, f"{n * context}") for n in range(TIMES + 1)]


def frequencies(way: str, context: int) -> Tensor:
    """Return how far each pair turns from one place to the next, in radians (D/2,)."""
    import torch

    from llmviz.nn.positions import ntk_base, rotary_angles, stretched, yarn_scaling

    base = ntk_base(BASE, SIZE, TIMES) if way == "ntk" else BASE
    plain = rotary_angles(torch.ones(1, dtype=torch.float64), SIZE, base)[0]
    scaling = {"linear": (float(TIMES),), "yarn": yarn_scaling(TIMES, context)}
    return stretched(plain, scaling.get(way, ()))


def circles(way: str, context: int, times: int) -> np.ndarray:
    """Return the share of its circle that each pair comes to in `times` contexts (D/2,)."""
    turned = frequencies(way, context).numpy() * context * times
    return np.minimum(1.0, turned / (2 * math.pi))


def printed(context: int) -> str:
    """Return what the chapter's snippet prints: the angles at the last place, in radians."""
    lines = [frequencies(way, context) for way in ("linear", "ntk")]
    return "\n".join(str([round(float(a) * TIMES * context, 2) for a in line]) for line in lines)
