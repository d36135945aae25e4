"""Small models that read few stories many times, with label smoothing and without it.

`python -m experiments make smoothed` trains and measures them again, some minutes on one core, and
writes `data/experiments/smoothed.json`. Reading it needs no torch.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from llmviz.files.paths import EXPERIMENT_FOLDER
from llmviz.records import Recorded, typed

FILE = "smoothed.json"
COMMAND = "python -m experiments make smoothed"
SMOOTHING = (0.0, 0.1)
SEEDS = (0, 1, 2)
CHARACTERS = 100_000  # of tiny-world, that the models read


@dataclass(frozen=True)
class SmoothedRun:
    """One model on new stories, at temperature 1: means over all tokens.

    confidence: how probable its first guesses are by the model; right: how many came. came_error,
    true_error: the expected calibration error against what came and the true probabilities.
    loss, divergence: nats per token, and what of them is neither the world's chance nor dice.
    fitted: the temperature of the lowest loss.
    """

    smoothing: float
    seed: int
    confidence: float
    right: float
    came_error: float
    true_error: float
    loss: float
    divergence: float
    fitted: float

    @property
    def apart(self) -> float:
        """Sure minus right: above 0, the model is surer than it is right."""
        return self.confidence - self.right


@dataclass(frozen=True)
class SmoothedRuns:
    """All runs, by their smoothing: one for each of SEEDS; and how often each read its text."""

    runs: dict[float, tuple[SmoothedRun, ...]]
    passes: int

    def values(self, smoothing: float, name: str) -> np.ndarray:
        """One number of all runs with this smoothing."""
        return np.array([getattr(run, name) for run in self.runs[smoothing]])

    def mean(self, smoothing: float, name: str) -> tuple[float, float]:
        """The mean of a number over the runs, and its standard error."""
        values = self.values(smoothing, name)
        return float(values.mean()), float(values.std(ddof=1) / math.sqrt(len(values)))


@cache
def recorded(folder: Path = EXPERIMENT_FOLDER) -> SmoothedRuns:
    """Return the bundled runs. Raises ValueError where the file is missing or damaged."""
    with Recorded(folder / FILE, COMMAND) as content:
        runs = typed(content["runs"], list[SmoothedRun])
        by_smoothing = {
            share: tuple(run for run in runs if run.smoothing == share) for share in SMOOTHING
        }
        if any(len(some) != len(SEEDS) for some in by_smoothing.values()):
            raise TypeError(f"{len(SMOOTHING) * len(SEEDS)} runs are needed; got {len(runs)}")
        return SmoothedRuns(by_smoothing, int(content["passes"]))
