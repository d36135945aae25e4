"""Sums that lose their small parts: a small number added again and again, in several formats."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from llmviz.quantization.formats import FORMATS

ADDED_IN = ("float32", "bfloat16", "float16")  # torch adds in each of them


@dataclass(frozen=True)
class RunningSums:
    """What a sum is after each addition.

    large, small: as the format holds them, the first and each of the n others.
    running: (n + 1,) the sum so far, the large number first.
    """

    large: float
    small: float
    running: np.ndarray


def running_sums(large: float, small: float, n: int) -> Mapping[str, RunningSums]:
    """Add `small` n times to `large`, in each format of ADDED_IN. Raises ValueError: n below 1."""
    if n < 1:
        raise ValueError(f"at least one number must be added; got n={n}")
    return {name: _in_format(name, large, small, n) for name in ADDED_IN}


def _in_format(name: str, large: float, small: float, n: int) -> RunningSums:
    import torch

    # Both are rounded once, by our own rule: torch would go from float64 by way of float32.
    held = [float(FORMATS[name].round(number)) for number in (large, small)]
    total, step = torch.tensor(held, dtype=getattr(torch, name))
    sums = [total]
    for _ in range(n):
        sums.append(sums[-1] + step)
    return RunningSums(held[0], held[1], torch.stack(sums).double().numpy())
