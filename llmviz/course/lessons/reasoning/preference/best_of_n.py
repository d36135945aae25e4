"""The best of n samples by a reward, and what it is worth by the truth, without new samples.

Reference: Gao, Schulman and Hilton 2022, "Scaling Laws for Reward Model Overoptimization",
appendix I: of N samples every choice of n counts the same.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

COUNTS = (1, 2, 4, 8, 16, 32, 64)


def chances(samples: int, n: int) -> np.ndarray:
    """The chance of each of N samples, lowest reward first, to be the best of n drawn, (N,).

    Sample i (from 0) is the best where it is drawn and the other n − 1 come from the i below it.

    >>> chances(3, 2).round(3).tolist()
    [0.0, 0.333, 0.667]

    Raises ValueError for n that is not from 1 to N.
    """
    if not 1 <= n <= samples:
        raise ValueError(f"n must be from 1 to {samples}; got {n}")
    total = math.comb(samples, n)
    return np.array([math.comb(at, n - 1) / total for at in range(samples)])


def best_of(rewards: Sequence[float], values: Sequence[float], n: int) -> float:
    """The mean of `values` at the sample with the highest reward of n, over all choices of n.

    Of samples with the same reward each is the best equally often.
    """
    own, worth = np.asarray(rewards, dtype=float), np.asarray(values, dtype=float)
    for reward in np.unique(own):
        worth = np.where(own == reward, worth[own == reward].mean(), worth)
    return float(worth[np.argsort(own, kind="stable")] @ chances(len(own), n))


@dataclass(frozen=True)
class Curve:
    """By n of COUNTS, means over stories: the reward, and shares of endings by the truth.

    reward: minus the mean of all samples of the story.
    """

    reward: tuple[float, ...]
    good: tuple[float, ...]
    glad: tuple[float, ...]
    grammatical: tuple[float, ...]
