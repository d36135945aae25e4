"""Reward models by the number of pairs and by mistakes of the labeller, and what fools one.

`python -m experiments make reward-models` makes it all again on one thread, about half an hour: the
bundled model `data/experiments/reward-model.safetensors`, and `reward-model.json` with what was
measured. It goes on where it was stopped.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from llmviz.course.lessons.reasoning.preference.best_of_n import Curve
from llmviz.course.lessons.reasoning.preference.preference_model import (
    COMMAND,
    LABELLER,
    PAIRS,
    SEED,
)
from llmviz.files.paths import EXPERIMENT_FOLDER
from llmviz.records import Recorded as Opened
from llmviz.records import typed
from llmviz.training.measures import Share

if TYPE_CHECKING:
    pass

FILE = "reward-model.json"
SEEDS, SIZES, WRONG, BY_LENGTH = (0, 1, 2), (50, 200, PAIRS), (0.0, 0.1, 0.3), (0.0, 0.25, 0.5)
HELD_OUT_SEED, KIND_SEED, CURVE_SEED, SEARCH_SEED = 101, 102, 103, 104
ALL, LONGER, SHORTER = "all", "longer", "shorter"
CONFIDENCES = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0)  # ends of the bins of the calibration
CURVE_STORIES, SAMPLES = 40, 64
SEARCHES, SEARCH_SAMPLES, ROUNDS, GOOD = 100, 8, 12, 32


@dataclass(frozen=True)
class Run:
    """A reward model: what it learned from, and how often it is right.

    right: by kind of pairs, of how many the true better one has the higher reward; pairs of KINDS
    for models like the bundled one alone. agreed: the
    same of what the labeller says of held-out pairs. bins: of the pairs whose σ of the difference
    lies in a bin of CONFIDENCES, how many, the sum of σ, and with how many the labeller agreed.
    """

    pairs: int
    by_length: float
    wrong: float
    seed: int
    right: dict[str, Share]
    agreed: Share
    bins: tuple[tuple[int, float, int], ...]


@dataclass(frozen=True)
class Search:
    """A recorded search: rewards at the beginning, of the best sample, and at the end.

    best_good: the highest reward of GOOD good endings of the grammar for the same story.
    """

    story: str
    ending: str
    first: float
    sampled: float
    last: float
    best_good: float
    mood: int
    grammatical: bool

    @property
    def good(self) -> bool:
        """Whether the ending that was found is what was meant."""
        return self.mood > 0 and self.grammatical

    @property
    def hole(self) -> bool:
        """Whether it is bad, and has a higher reward than all the good ones."""
        return not self.good and self.last > self.best_good


@dataclass(frozen=True)
class Recorded:
    """All that was measured; see `Run`, `Search` and `Curve`."""

    runs: tuple[Run, ...]
    curves: tuple[tuple[int, int, Curve], ...]  # pairs, seed
    searches: tuple[Search, ...]
    seconds: float

    def of(self, pairs: int = PAIRS, **labeller: float) -> tuple[Run, ...]:
        """The runs of all seeds with so many pairs and a labeller (by_length, wrong)."""
        wanted = asdict(LABELLER) | labeller
        return tuple(
            run
            for run in self.runs
            if run.pairs == pairs
            and all(getattr(run, name) == value for name, value in wanted.items())
        )

    @property
    def bundled(self) -> Run:
        """The run whose model is bundled."""
        return next(run for run in self.of() if run.seed == SEED)

    @property
    def holes(self) -> Share:
        """In how many searches a hole was found."""
        return Share(sum(search.hole for search in self.searches), len(self.searches))


def settings() -> list[tuple[int, float, float, int]]:
    """Return pairs, by_length, wrong and seed of all runs."""
    grid = [(PAIRS, LABELLER.by_length, LABELLER.wrong)]  # the bundled one comes first
    grid += [(size, LABELLER.by_length, LABELLER.wrong) for size in SIZES]
    grid += [(PAIRS, LABELLER.by_length, wrong) for wrong in WRONG]
    grid += [(PAIRS, by_length, LABELLER.wrong) for by_length in BY_LENGTH]
    return [(*setting, seed) for seed in SEEDS for setting in dict.fromkeys(grid)]


def _share(text: str) -> Share:
    return Share(*map(int, text.split("/")))


@cache
def recorded(folder: Path = EXPERIMENT_FOLDER) -> Recorded:
    """Return what was measured. Raises ValueError where the file is missing or damaged."""
    with Opened(folder / FILE, COMMAND) as content:
        runs = tuple(
            Run(
                **run
                | {
                    "right": {kind: _share(text) for kind, text in run["right"].items()},
                    "agreed": _share(run["agreed"]),
                    "bins": tuple((int(n), float(p), int(k)) for n, p, k in run["bins"]),
                }
            )
            for run in content["runs"]
        )
        if {(run.pairs, run.by_length, run.wrong, run.seed) for run in runs} != {*settings()}:
            raise ValueError(f"{len(settings())} runs are needed; got {len(runs)}")
        searches = typed(content["searches"], tuple[Search, ...])
        if len(searches) != SEARCHES:
            raise ValueError(f"{SEARCHES} searches are needed; got {len(searches)}")
        curves = tuple(
            (row.pop("pairs"), row.pop("seed"), Curve(**{k: tuple(v) for k, v in row.items()}))
            for row in map(dict, content["curves"])
        )
        return Recorded(runs, curves, searches, float(content["seconds"]))
    raise AssertionError("unreachable")
