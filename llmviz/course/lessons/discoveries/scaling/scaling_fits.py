"""Laws fitted to the bundled runs, by which runs are taken and what counts as a parameter.

`python -m experiments make scaling-fits` fits them again, some minutes on one core, and writes
`data/experiments/scaling-fits.json`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np

from llmviz.course.lessons.discoveries.scaling.scaling_fit import (
    Law,
)
from llmviz.course.lessons.discoveries.scaling.scaling_runs import AMOUNTS, SIZES, ScalingRun
from llmviz.paths import EXPERIMENT_FOLDER
from llmviz.records import Recorded, typed

FILE = "scaling-fits.json"
COMMAND = "python -m experiments make scaling-fits"
ALL, BLOCKS = "parameters", "in_blocks"  # what is counted: all parameters, or those of the blocks
NEAR = 1.01  # times the least Huber loss: up to there a start has found the best law


@dataclass(frozen=True)
class Taken:
    """Which runs a law is fitted to.

    smallest, shortest: the first of SIZES and of AMOUNTS that are taken.
    """

    counted: str = ALL
    smallest: int = 0
    shortest: int = 0

    @property
    def name(self) -> str:
        """Its name in the file."""
        return f"{self.counted}.{self.smallest}.{self.shortest}"

    def of(self, runs: Sequence[ScalingRun]) -> list[ScalingRun]:
        """Return the runs that are taken."""
        widths = {size.width for size in SIZES[self.smallest :]}
        amounts = AMOUNTS[self.shortest :]
        return [run for run in runs if run.width in widths and run.stories in amounts]

    def numbers(self, runs: Sequence[ScalingRun]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return parameters, tokens and losses of the runs that are taken (R,) each."""
        taken = self.of(runs)
        return (
            np.array([getattr(run, self.counted) for run in taken], float),
            np.array([run.tokens for run in taken], float),
            np.array([run.loss for run in taken], float),
        )


EVERY = [Taken(*choice) for choice in product((ALL, BLOCKS), range(6), range(3))]


@dataclass(frozen=True)
class Fitted:
    """The best law of all starts, how many starts found it, and its intervals.

    low, high: of each constant, in the order of Law: what COVERED of the laws of drawn runs have.
    """

    law: Law
    starts: int
    found: int
    low: tuple[float, ...]
    high: tuple[float, ...]


@cache
def recorded(folder: Path = EXPERIMENT_FOLDER) -> dict[str, Fitted]:
    """Return the bundled laws by name. Raises ValueError where they are missing or damaged."""
    with Recorded(folder / FILE, COMMAND) as content:
        return typed(content["fits"], dict[str, Fitted])
