"""Bundled toy models of superposition: films by density, and a chart of phases.

`python -m experiments make superposition` makes them again, a few minutes on one thread, and
writes `data/experiments/superposition/`: frames.safetensors and card.json.

D densities, R seeds, S moments, M dimensions, N features; I importances.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from llmviz.course.lessons.discoveries.superposition.model import (
    KEPT,
    Learned,
    Moment,
    Toy,
    moments_of,
)
from llmviz.paths import EXPERIMENT_FOLDER
from llmviz.records import require
from llmviz.training.files import read_json

FOLDER = EXPERIMENT_FOLDER / "superposition"
FRAMES, CARD = "frames.safetensors", "card.json"
COMMAND = "python -m experiments make superposition"
DENSITIES = (1.0, 0.5, 0.2, 0.1, 0.05, 0.02)
SEEDS = (0, 1, 2)
RATIO = 0.9
# The chart of phases: two features, one dimension.
PHASE_DENSITIES = np.geomspace(0.01, 1, 25)
PHASE_IMPORTANCES = np.geomspace(0.1, 10, 25)  # of the second feature; the first has 1
STARTS, PHASE_STEPS, PHASE_RATE = 8, 1500, 0.01
VALUES = (np.arange(10) + 0.5) / 10  # of a feature that is on
FIRST, SECOND, BOTH, NEITHER = 0, 1, 2, 3  # which of the two features has a direction


@dataclass(frozen=True, eq=False)
class Phases:
    """The best of several trainings for each density and importance.

    directions (D, I, 2), bias (D, I, 2), losses (D, I).
    """

    directions: np.ndarray
    bias: np.ndarray
    losses: np.ndarray

    @property
    def kinds(self) -> np.ndarray:
        """Which features have a direction (D, I): FIRST, SECOND, BOTH or NEITHER."""
        first, second = np.moveaxis(np.abs(self.directions) >= KEPT, -1, 0)
        return np.where(
            first & second, BOTH, np.where(first, FIRST, np.where(second, SECOND, NEITHER))
        )


@cache
def _parts(folder: Path) -> dict[str, np.ndarray]:
    from llmviz.training.tensors import load_tensors

    path = require(folder / FRAMES, COMMAND)
    steps, shape = int(read_json(folder / CARD)["steps"]), (len(DENSITIES), len(SEEDS))
    parts: dict[str, Any] = {name: tensor.numpy() for name, tensor in load_tensors(path).items()}
    names = {"loss", "directions", "bias", "phase.directions", "phase.bias", "phase.losses"}
    if set(parts) != names or parts["loss"].shape != (*shape, len(moments_of(steps))):
        raise ValueError(f"{path} is damaged; `{COMMAND}` makes it again")
    return parts | {"steps": np.array(moments_of(steps))}


def film(density: float, seed: int = 0, folder: Path = FOLDER) -> Learned:
    """Return a bundled training. Raises ValueError where it is missing or damaged."""
    parts = _parts(folder)
    at = DENSITIES.index(density), SEEDS.index(seed)
    columns = (parts[name][at].astype(float) for name in ("loss", "directions", "bias"))
    steps = parts["steps"].tolist()
    rows = zip(steps, *columns, strict=True)
    moments = [Moment(step, steps[-1], float(loss), *arrays) for step, loss, *arrays in rows]
    return Learned(Toy(density=density, ratio=RATIO, seed=seed), moments)


def phase_chart(folder: Path = FOLDER) -> Phases:
    """Return the bundled chart of phases. Raises ValueError where it is missing or damaged."""
    parts = _parts(folder)
    return Phases(*(parts[f"phase.{name}"] for name in ("directions", "bias", "losses")))
