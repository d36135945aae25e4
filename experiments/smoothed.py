"""Small models that read few stories many times, with label smoothing and without it.

Makes what `llmviz.course.lessons.errors.calibration.model` reads.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import cast

from experiments._command import write_to
from experiments._small_world import train_small
from llmviz.course.lessons.errors.calibration.model import (
    CHARACTERS,
    COMMAND,
    FILE,
    SEEDS,
    SMOOTHING,
    SmoothedRun,
)
from llmviz.course.lessons.errors.model_errors import (
    CAME,
    STORIES,
    TO_FIT,
    TRUE,
    ModelErrors,
    measure,
)
from llmviz.files.paths import EXPERIMENT_FOLDER
from llmviz.training.files import write_json
from llmviz.training.held_out_texts import CALIBRATION_SEED, stories

STEPS = 600


def summed_up(measured: ModelErrors, smoothing: float, seed: int) -> SmoothedRun:
    """Return what is kept of a measurement."""
    found = measured.reliability(1.0, CAME)
    weights = found.counts / found.counts.sum()
    full = found.counts > 0
    return SmoothedRun(
        smoothing,
        seed,
        float(weights[full] @ found.confidence[full]),
        float(weights[full] @ found.right[full]),
        found.error,
        measured.reliability(1.0, TRUE).error,
        measured.loss(1.0),
        measured.corpus.divergence.value,
        measured.fitted,
    )


def measure_one(smoothing: float, seed: int) -> tuple[SmoothedRun, int]:
    """Train a model and measure it on new stories; and how often it read its text."""
    small = train_small(seed, STEPS, CHARACTERS, smoothing=smoothing)
    texts = stories(STORIES), stories(TO_FIT, CALIBRATION_SEED)
    *_, found = measure(small.model, small.tokenizer, *texts)
    return summed_up(cast(ModelErrors, found), smoothing, seed), round(small.passes)


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
