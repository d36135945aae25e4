"""Accuracy against the number of labelled examples, for each way of training; bundled as a file.

`python -m experiments make labelled-texts` measures all of it again: some 20 minutes of one core.
It can be stopped, and goes on where it was. The result is `data/experiments/FILE`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

from llmviz.files.paths import EXPERIMENT_FOLDER
from llmviz.training.files import read_json

FILE = "labelled-texts.json"
TASK, READS = "who", "first"
COUNTS = (10, 30, 100, 300, 1000, 3000)
SEEDS = (0, 1, 2)
STEPS = {"head": 300, "last": 120, "all": 120, "nothing": 120}
COMMAND = "python -m experiments make labelled-texts"


class Run(NamedTuple):
    """One training: which way, on how many texts, from which seed."""

    way: str
    examples: int
    seed: int

    @property
    def key(self) -> str:
        return f"{self.way} {self.examples} {self.seed}"


class Band(NamedTuple):
    """What one way reaches at each of COUNTS over the seeds: lowest, mean, highest accuracy."""

    way: str
    lowest: tuple[float, ...]
    mean: tuple[float, ...]
    highest: tuple[float, ...]


class Measured(NamedTuple):
    """The bundled curves: which texts, how many steps each way took, and a band for each way."""

    counts: tuple[int, ...]
    seeds: int
    tested: int
    guess: float  # share of the largest class of the test
    steps: dict[str, int]
    bands: tuple[Band, ...]


def runs() -> Iterator[Run]:
    """All trainings, the quick ones first."""
    for way in STEPS:
        for seed in SEEDS:
            for examples in COUNTS:
                yield Run(way, examples, seed)


def measured(folder: Path = EXPERIMENT_FOLDER) -> Measured:
    """Return the bundled curves.

    Raises ValueError where they are not in this copy, or not all of them are measured.
    """
    about = read_json(folder / FILE)
    accuracies = about.get("accuracy", {})
    missing = [run.key for run in runs() if run.key not in accuracies]
    if missing:
        raise ValueError(f"{FILE} lacks {len(missing)} trainings, such as {missing[0]!r}")
    bands = []
    for way in STEPS:
        by_count = [[accuracies[Run(way, n, seed).key] for seed in SEEDS] for n in COUNTS]
        columns = ([f(values) for values in by_count] for f in (min, fmean, max))
        bands.append(Band(way, *map(tuple, columns)))
    given = (about["tested"], about["guess"], about["steps"])
    return Measured(COUNTS, len(SEEDS), *given, tuple(bands))
