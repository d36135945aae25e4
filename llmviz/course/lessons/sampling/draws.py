"""Random numbers of a seed, and how near the frequencies of draws come to their probabilities.

Shapes: V vocabulary, n draws.
"""

from __future__ import annotations

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
