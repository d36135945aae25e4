"""Small models that read few stories many times, with label smoothing and without it.

`python -m experiments make smoothed` trains and measures them again, some minutes on one core, and
writes `data/experiments/smoothed.json`. Reading it needs no torch.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import cast

import numpy as np

from llmviz.course.lessons.errors.model_errors import (
    CAME,
    STORIES,
    TO_FIT,
    TRUE,
    ModelErrors,
    measure,
)
from llmviz.course.lessons.errors.small_world import train_small
from llmviz.paths import EXPERIMENT_FOLDER
from llmviz.records import Recorded, write_to
from llmviz.training.files import write_json
from llmviz.training.held_out_texts import CALIBRATION_SEED, stories

FILE = "smoothed.json"
COMMAND = "python -m experiments make smoothed"
SMOOTHING = (0.0, 0.1)
SEEDS = (0, 1, 2)
CHARACTERS = 100_000  # of tiny-world, that the models read
STEPS = 600


@dataclass(frozen=True)
class SmoothedRun:
    """One model on new stories, at temperature 1: means over all tokens.

    sure: how probable its first guesses are by the model; right: how many came. came_error,
    true_error: the expected calibration error against what came and the true probabilities.
    loss, lack: nats per token, and the part of them that is neither the world's chance nor dice.
    fitted: the temperature of the lowest loss.
    """

    smoothing: float
    seed: int
    sure: float
    right: float
    came_error: float
    true_error: float
    loss: float
    lack: float
    fitted: float

    @property
    def apart(self) -> float:
        """Sure minus right: above 0, the model is surer than it is right."""
        return self.sure - self.right


def summed_up(measured: ModelErrors, smoothing: float, seed: int) -> SmoothedRun:
    """Return what is kept of a measurement."""
    found = measured.reliability(1.0, CAME)
    weights = found.counts / found.counts.sum()
    full = found.counts > 0
    return SmoothedRun(
        smoothing,
        seed,
        float(weights[full] @ found.sure[full]),
        float(weights[full] @ found.right[full]),
        found.error,
        measured.reliability(1.0, TRUE).error,
        measured.loss(1.0),
        measured.corpus.divergence.value,
        measured.fitted,
    )


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


def measure_one(smoothing: float, seed: int) -> tuple[SmoothedRun, int]:
    """Train a model and measure it on new stories; and how often it read its text."""
    small = train_small(seed, STEPS, CHARACTERS, smoothing=smoothing)
    texts = stories(STORIES), stories(TO_FIT, CALIBRATION_SEED)
    *_, found = measure(small.model, small.tokenizer, *texts)
    return summed_up(cast(ModelErrors, found), smoothing, seed), round(small.passes)


@cache
def recorded(folder: Path = EXPERIMENT_FOLDER) -> SmoothedRuns:
    """Return the bundled runs. Raises ValueError where the file is missing or damaged."""
    with Recorded(folder / FILE, COMMAND) as content:
        runs = [SmoothedRun(**run) for run in content["runs"]]
        by_smoothing = {
            share: tuple(run for run in runs if run.smoothing == share) for share in SMOOTHING
        }
        if any(len(some) != len(SEEDS) for some in by_smoothing.values()):
            raise TypeError(f"{len(SMOOTHING) * len(SEEDS)} runs are needed; got {len(runs)}")
        return SmoothedRuns(by_smoothing, int(content["passes"]))


def make(folder: Path = EXPERIMENT_FOLDER) -> None:
    """Train and measure all models; the file is written after each."""
    from tqdm import tqdm

    every: Sequence[tuple[float, int]] = [(share, seed) for seed in SEEDS for share in SMOOTHING]
    runs = []
    for smoothing, seed in tqdm(every, unit="model"):
        run, passes = measure_one(smoothing, seed)
        runs.append(asdict(run))
        write_json(folder / FILE, {"command": COMMAND, "passes": passes, "runs": runs})


if __name__ == "__main__":
    write_to(make, "Train the models with label smoothing again.")
