"""Sums that lose their small parts: small numbers added one by one to a large one, in each format.

n additions. Every sum is computed with numbers of the format itself: by torch where it adds in it,
else by one addition in float32 that is written back into the format.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from llmviz.quantization.formats import FORMATS

ADDED_IN = ("float32", "bfloat16", "float16", "float8_e5m2", "float8_e4m3")
_TORCH = {"float8_e5m2": "float8_e5m2", "float8_e4m3": "float8_e4m3fn"}  # no addition of their own


@dataclass(frozen=True)
class RunningSums:
    """What a sum is after each addition, and what it is where numbers are added in pairs.

    large, small: as the format holds them, the first and each of the n others.
    running: (n + 1,) the sum so far, the large number first. pairwise: of all n + 1 numbers.
    """

    large: float
    small: float
    running: np.ndarray
    pairwise: float

    @property
    def exact(self) -> np.ndarray:
        """The true sums (n + 1,) of the numbers that the format holds."""
        return self.large + self.small * np.arange(len(self.running))

    @property
    def stands_from(self) -> int | None:
        """After how many additions the sum changes no more, though there are more; else None."""
        changed = np.flatnonzero(np.diff(self.running))
        last = int(changed[-1]) + 1 if changed.size else 0
        return last if last < len(self.running) - 1 else None


def running_sums(large: float, small: float, n: int) -> Mapping[str, RunningSums]:
    """Add `small` n times to `large`, in each format of ADDED_IN. Raises ValueError: n below 1."""
    if n < 1:
        raise ValueError(f"at least one number must be added; got n={n}")
    return {name: _in_format(name, large, small, n) for name in ADDED_IN}


def _in_format(name: str, large: float, small: float, n: int) -> RunningSums:
    import torch

    kind = getattr(torch, _TORCH.get(name, name))
    adds = name not in _TORCH
    # Both are rounded once, by our own rule: torch would go from float64 by way of float32.
    first, step = (
        torch.tensor(float(FORMATS[name].round(number)), dtype=torch.float32)
        for number in (large, small)
    )
    total, step = (first.to(kind), step.to(kind)) if adds else (first, step)
    sums = [total]
    for _ in range(n):
        total = total + step if adds else (total + step).to(kind).float()
        sums.append(total)
    values = torch.stack(sums).double().numpy()
    numbers = torch.cat([first.reshape(1), step.float().repeat(n)]).to(kind)
    return RunningSums(float(first), float(step), values, _pairwise(numbers))


def _pairwise(numbers: object) -> float:
    """The sum of numbers (n,): neighbours are added, then the sums of neighbours, and so on."""
    import torch

    assert isinstance(numbers, torch.Tensor)
    kind = numbers.dtype
    while len(numbers) > 1:
        odd = numbers[len(numbers) // 2 * 2 :]
        pairs = numbers[: len(numbers) // 2 * 2].float()
        # The sum of two numbers of a format, rounded once, is what adding in the format gives.
        numbers = torch.cat([(pairs[::2] + pairs[1::2]).to(kind).float(), odd.float()]).to(kind)
    return float(numbers[0])
