"""Laws fitted to the bundled runs, by which runs are taken and what counts as a parameter.

`python -m experiments make scaling-fits` fits them again, some minutes on one core, and writes
`data/experiments/scaling-fits.json`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, astuple, dataclass
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np

from llmviz.course.lessons.discoveries.scaling import scaling_runs
from llmviz.course.lessons.discoveries.scaling.scaling_fit import (
    COVERED,
    DRAWS,
    STARTS,
    Law,
    check,
    fit_from,
    start_of,
)
from llmviz.course.lessons.discoveries.scaling.scaling_runs import AMOUNTS, SIZES, ScalingRun
from llmviz.paths import EXPERIMENT_FOLDER
from llmviz.records import Recorded, write_to
from llmviz.training.files import write_json

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


def fitted(n: np.ndarray, d: np.ndarray, losses: np.ndarray, draws: int = DRAWS) -> Fitted:
    """Fit a law from all starts, and again to runs that are drawn from these with replacement.

    Raises ValueError where there are too few runs, sizes or amounts.
    Reference: Efron 1979, the bootstrap.
    """
    check(n, d, losses)
    laws = [fit_from(start, n, d, losses) for start in product(*STARTS)]
    best = min(laws, key=lambda law: law.left)
    found = sum(law.left <= best.left * NEAR for law in laws)
    chance = np.random.default_rng(0)
    drawn: list[tuple[float, ...]] = []
    while len(drawn) < draws:
        chosen = chance.integers(0, len(n), len(n))
        try:
            check(n[chosen], d[chosen], losses[chosen])
        except ValueError:
            continue  # a draw with too few sizes says nothing of a curve over sizes
        again = fit_from(start_of(best), n[chosen], d[chosen], losses[chosen])
        drawn.append(astuple(again)[:5])
    edges: np.ndarray = np.quantile(np.array(drawn), [(1 - COVERED) / 2, (1 + COVERED) / 2], axis=0)
    return Fitted(best, len(laws), found, *(tuple(map(float, edge)) for edge in edges))


def make(folder: Path = EXPERIMENT_FOLDER) -> None:
    """Fit all and write the file."""
    from tqdm import tqdm

    _, runs = scaling_runs.recorded()
    fits = {choice.name: asdict(fitted(*choice.numbers(runs))) for choice in tqdm(EVERY)}
    write_json(folder / FILE, {"command": COMMAND, "fits": fits})


@cache
def recorded(folder: Path = EXPERIMENT_FOLDER) -> dict[str, Fitted]:
    """Return the bundled laws by name. Raises ValueError where they are missing or damaged."""
    with Recorded(folder / FILE, COMMAND) as content:
        return {
            name: Fitted(**fit | {"law": Law(**fit["law"])})
            for name, fit in content["fits"].items()
        }


if __name__ == "__main__":
    write_to(make, "Fit the laws of the bundled runs again.")
