"""Random numbers of a seed, and how near the frequencies of draws come to their probabilities.

Shapes: V vocabulary, n draws.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np


def seed_numbers(seed: int, n: int) -> np.ndarray:
    """Return the first n random numbers (n,) of a seed in float64, each at least 0 and below 1."""
    import torch

    generator = torch.Generator().manual_seed(seed)
    return torch.rand(n, generator=generator, dtype=torch.float64).numpy()


def distance(probabilities: np.ndarray, drawn: np.ndarray) -> float:
    """Return the total variation distance of drawn frequencies from their probabilities (V,).

    `drawn` holds the token id of each draw, (n,). 0: they are equal; 1: they share no token.

    Raises ValueError: nothing was drawn.
    """
    if not drawn.size:
        raise ValueError("there are no draws to compare with the probabilities")
    frequencies = np.bincount(drawn, minlength=probabilities.size) / drawn.size
    return float(np.abs(frequencies - probabilities).sum() / 2)


def distances(
    probabilities: np.ndarray, drawn: np.ndarray, points: int = 25
) -> tuple[list[int], list[float]]:
    """Return up to `points` numbers of draws, evenly apart in ratio, and the distance at each."""
    numbers = sorted({round(float(n)) for n in np.geomspace(1, drawn.size, points)})
    return numbers, [distance(probabilities, drawn[:n]) for n in numbers]


def expected_distance(probabilities: np.ndarray, n: int) -> float:
    """Return the mean of `distance` over all ways that n draws from probabilities (V,) can go.

    Each token's count is binomial, with the mean absolute deviation
    2 k C(n, k) p^k (1 - p)^(n - k + 1), where k = floor(np) + 1.

    Raises ValueError: n is below 1.

    Reference: Diaconis and Zabell 1991, equation 1.1 (de Moivre's formula).
    """
    if n < 1:
        raise ValueError(f"the number of draws must be 1 or more; got {n}")
    chances = probabilities[(probabilities > 0) & (probabilities < 1)]
    k = np.minimum(np.floor(n * chances) + 1, n)  # n + 1 where n p rounds up to n
    logs = _log_factorials(n)
    at = k.astype(np.int64)
    ways = logs[n] - logs[at] - logs[n - at]
    exponent = ways + k * np.log(chances) + (n - k + 1) * np.log1p(-chances)
    return float((2 * k * np.exp(exponent)).sum() / (2 * n))


@lru_cache(8)
def _log_factorials(n: int) -> np.ndarray:
    return np.array([math.lgamma(i + 1) for i in range(n + 1)])
