"""Laws fitted to the bundled runs, by which runs are taken and what counts as a parameter.

Makes what `llmviz.course.lessons.discoveries.scaling.scaling_fit` reads.
"""

from __future__ import annotations

from dataclasses import asdict, astuple
from itertools import product
from pathlib import Path

import numpy as np

from experiments._command import write_to
from llmviz.course.lessons.discoveries.scaling import scaling_runs
from llmviz.course.lessons.discoveries.scaling.scaling_fit import (
    COMMAND,
    COVERED,
    DRAWS,
    EVERY,
    FILE,
    NEAR,
    STARTS,
    Fitted,
    check,
    fit_from,
    start_of,
)
from llmviz.files.paths import EXPERIMENT_FOLDER
from llmviz.training.files import write_json


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


if __name__ == "__main__":
    write_to(make, "Fit the laws of the bundled runs again.")
