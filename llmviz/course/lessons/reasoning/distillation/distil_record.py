"""Students of the story model: what they lack by what they learned from, measured and bundled.

`python -m experiments make distilled` trains them again, 74 minutes on a busy machine, and
writes `data/experiments/distilled.json` and two students, `distilled-text.safetensors` and
`distilled-soft1.safetensors`. It goes on where it was stopped.

Losses are in nats per token.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from llmviz.course.lessons.reasoning.distillation import distilling as students
from llmviz.course.lessons.reasoning.distillation.distilling import (
    SOFT_1,
    TEXT,
    WAYS,
    Point,
)
from llmviz.evaluation.exact_loss import Mean
from llmviz.files.paths import EXPERIMENT_FOLDER
from llmviz.records import Recorded
from llmviz.training import small_models
from llmviz.training.measures import Share

if TYPE_CHECKING:
    from llmviz.models.gpt import GPT

FILE, WEIGHTS = "distilled.json", "distilled-{}.safetensors"
COMMAND = "python -m experiments make distilled"
AMOUNTS = FEW, MANY = 100, 400  # stories that a student learns from
SEEDS = (0, 1, 2)
WORD = "red"  # which some students never see
WITHOUT = (TEXT, SOFT_1)  # the ways of these students
WAYS_OF = {FEW: tuple(WAYS), MANY: WITHOUT}  # what is learned from so many stories
BUNDLED = (TEXT, SOFT_1)  # whose students with FEW stories and seed 0 come along
DRAWS, NOISE_BATCHES, NOISE_SEED = 32, 32, 60_000


class Kind(NamedTuple):
    """What a run is: its way, its stories, its seed, and the word that it never sees, if any."""

    way: str
    stories: int
    seed: int
    without: str = ""


KINDS = tuple(
    kind
    for seed in SEEDS
    for kind in (
        *(
            Kind(way, count, seed, without)
            for count, without in ((FEW, ""), (MANY, ""), (MANY, WORD))
            for way in WITHOUT
        ),
        *(Kind(way, FEW, seed) for way in WAYS if way not in WITHOUT),
    )
)


class WordChances(NamedTuple):
    """How probable a word is in new stories, by the grammar and by a model, on average.

    possible: places where it can come, and other words as well. certain: places where hardly
    anything else can come.
    """

    possible: int
    true: float
    given: float
    certain: int
    given_certain: float


@dataclass(frozen=True)
class Measured:
    """A model on new stories: the parts of its loss with standard errors, and what it knows.

    rules: how many probes of all rules together are right, of two answers.
    """

    loss: Mean
    floor: Mean
    excess: Mean
    dice: Mean
    rules: Share
    word: WordChances


@dataclass(frozen=True)
class Run:
    """A student's training and what came of it.

    own, own_floor: its loss on stories that it learned from, and that of the grammar on the same;
    own_floor is None where the teacher wrote them.
    """

    kind: Kind
    points: tuple[Point, ...]
    measured: Measured
    own: float
    own_floor: float | None


@dataclass(frozen=True)
class Noise:
    """How far gradients lie from where they should, squared, at one student.

    drawn: of the text's tokens, drawn anew at each place, from the gradient of the true
    distributions, on average; drawn_error: its standard error. taught: the same distance of the
    gradient of the teacher's distributions. size: the squared length of the true gradient.
    text, soft: from their mean, over batches of different stories; error: the standard error of
    their difference.
    """

    drawn: float
    drawn_error: float
    taught: float
    size: float
    text: float
    soft: float
    error: float


def _measured(content: dict[str, Any]) -> Measured:
    loss, floor, excess, dice = (
        Mean(*content[name]) for name in ("loss", "floor", "excess", "dice")
    )
    rules, word = Share(**content["rules"]), WordChances(*content["word"])
    return Measured(loss, floor, excess, dice, rules, word)


def _run(content: dict[str, Any]) -> Run:
    start = Point(0, 0, content["start"], float("nan"), 0.0)
    return Run(
        Kind(*content["kind"]),
        (start, *(Point(*point) for point in content["points"])),
        _measured(content["measured"]),
        content["own"],
        content["own_floor"],
    )


@dataclass(frozen=True)
class Record:
    """All bundled runs, the teacher measured as they are, and the noise of gradients."""

    runs: dict[Kind, Run]
    teacher: Measured
    noise: Noise

    def of(self, way: str, count: int, without: str = "") -> list[Run]:
        """The runs of a way with so many stories, one for each seed."""
        return [self.runs[Kind(way, count, seed, without)] for seed in SEEDS]

    def values(
        self, number: Callable[[Run], float], way: str, count: int, without: str = ""
    ) -> np.ndarray:
        """A number of each of these runs."""
        return np.array([number(run) for run in self.of(way, count, without)])


@cache
def recorded(folder: Path = EXPERIMENT_FOLDER) -> Record:
    """Return what was measured. Raises ValueError where the file is missing or damaged."""
    with Recorded(folder / FILE, COMMAND) as content:
        runs = {run.kind: run for run in map(_run, content["runs"])}
        if missing := set(KINDS) - set(runs):
            raise ValueError(f"{len(missing)} students are missing")
        return Record(runs, _measured(content["teacher"]), Noise(**content["noise"]))


@cache
def bundled(way: str, folder: Path = EXPERIMENT_FOLDER) -> GPT:
    """Return the bundled student of a way. Raises ValueError where it is missing or damaged."""
    return small_models.read_weights(
        folder / WEIGHTS.format(way),
        COMMAND,
        lambda own: students.new_student(len(own["token.weight"])),
    )
