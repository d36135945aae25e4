"""Policy gradient on a bandit of three arms: every number of an update, and runs of many.

A policy is a softmax over one logit per arm. After an arm came and paid, its gradient is
(reward − baseline) · ∇ ln π(arm), and ∇ ln π(arm) = one-hot(arm) − π. K arms.

Reference: Williams 1992, "Simple Statistical Gradient-Following Algorithms for Connectionist
Reinforcement Learning"; Sutton and Barto 2018, "Reinforcement Learning", section 2.8.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from llmviz.sampling.steps import softmax

ARMS = 3
UPDATES = 100
NONE, MEAN, BEST = "none", "mean", "best"
BASELINES = (NONE, MEAN, BEST)
"""What is taken off each reward: nothing; the mean reward under the policy; or the number that
makes the variance of the gradient smallest."""


@dataclass(frozen=True)
class Update:
    """An update: a row for each arm that may come, (K, K) where nothing else is said."""

    logits: np.ndarray  # (K,)
    probabilities: np.ndarray  # (K,)
    direction: np.ndarray  # ∇ ln π of each arm
    rewards: np.ndarray  # (K,)
    baseline: float
    advantage: np.ndarray  # (K,)
    gradient: np.ndarray  # what one draw of each arm gives
    mean: np.ndarray  # (K,) the gradient expected under the policy: of the mean reward
    squares: np.ndarray  # (K,) squared distance of each gradient from the mean one

    @property
    def variance(self) -> float:
        """The expected squared distance of a gradient from the mean one."""
        return float(self.probabilities @ self.squares)

    def after(self, arm: int, rate: float) -> np.ndarray:
        """The logits (K,) after a step of this length along the gradient of the arm that came."""
        return self.logits + rate * self.gradient[arm]


@dataclass(frozen=True)
class Run:
    """Updates one after the other: logits before each and at the end (n + 1, K), and arms (n,)."""

    logits: np.ndarray
    arms: np.ndarray

    @property
    def probabilities(self) -> np.ndarray:
        """Of each arm before each update, and at the end (n + 1, K)."""
        return softmax(self.logits)


def baseline_of(kind: str, probabilities: np.ndarray, rewards: np.ndarray) -> float:
    """Return the baseline of BASELINES. Raises ValueError for another name."""
    if kind == NONE:
        return 0.0
    if kind == MEAN:
        return float(probabilities @ rewards)
    if kind == BEST:
        # Of E‖(r − b)∇ln π‖², which is smallest where its derivative in b is 0.
        lengths = ((np.eye(len(rewards)) - probabilities) ** 2).sum(-1)
        weights = probabilities * lengths
        total = float(weights.sum())
        return float(weights @ rewards) / total if total else 0.0
    raise ValueError(f"baseline must be one of {', '.join(BASELINES)}; got {kind!r}")


def update(logits: np.ndarray, rewards: Sequence[float], baseline: str) -> Update:
    """Return all numbers of an update. Raises ValueError for other shapes, or no number."""
    paid = np.asarray(rewards, dtype=float)
    logits = np.asarray(logits, dtype=float)
    if logits.shape != paid.shape or logits.ndim != 1:
        raise ValueError(f"one reward for each arm: got {logits.shape} and {paid.shape}")
    if not (np.isfinite(paid).all() and np.isfinite(logits).all()):
        raise ValueError("rewards and logits must be finite numbers")
    chances = softmax(logits)
    direction = np.eye(len(paid)) - chances
    off = baseline_of(baseline, chances, paid)
    gradient = (paid - off)[:, None] * direction
    mean = chances @ gradient
    squares = ((gradient - mean) ** 2).sum(-1)
    return Update(logits, chances, direction, paid, off, paid - off, gradient, mean, squares)


def run(
    rewards: Sequence[float], baseline: str, rate: float, seed: int, updates: int = UPDATES
) -> Run:
    """Draw an arm, update, and once more; from equal probabilities. The same for a seed."""
    drawn = np.random.default_rng(seed).random(updates)
    logits, arms = [np.zeros(len(rewards))], []
    for number in drawn:
        now = update(logits[-1], rewards, baseline)
        ends = np.cumsum(now.probabilities)
        arms.append(int(np.searchsorted(ends / ends[-1], number, side="right")))
        logits.append(now.after(arms[-1], rate))
    return Run(np.array(logits), np.array(arms))
