"""A test whose questions stand in the training text, beside another test of the same kind.

`python -m experiments make tested` trains the bundled models again, two minutes on one
core, and writes `data/experiments/tested.json`. Reading it needs no torch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from llmviz.corpus.invented import Person, Register, fact
from llmviz.files.paths import EXPERIMENT_FOLDER
from llmviz.records import Recorded, typed

FILE = "tested.json"
COMMAND = "python -m experiments make tested"
COPIES = (0, 1, 3, 10)  # how often the questions of the test stand in the text, besides
EACH = 80  # persons for each count: half for either test
HARD = (1, 2, 5)  # the tests ask for facts that the text says so often


@dataclass(frozen=True)
class Score:
    """Shares of right answers of one model: in the test that it may have read, and in the other."""

    copies: int
    read: float
    other: float
    questions: int  # of each test


def two_tests(register: Register) -> tuple[list[Person], list[Person]]:
    """Return two tests of the same kind: as many persons of each count in HARD, none in both."""
    groups = [[person for person in register.people if person.times == times] for times in HARD]
    first = [person for group in groups for person in group[: len(group) // 2]]
    second = [person for group in groups for person in group[len(group) // 2 :]]
    return first, second


def documents(register: Register, test: Sequence[Person], copies: int) -> list[str]:
    """Return the text of a world, with the questions and answers of a test in it, so often."""
    return register.documents() + [fact(person) for person in test for _ in range(copies)]


@cache
def bundled(folder: Path = EXPERIMENT_FOLDER) -> dict[int, tuple[Score, ...]]:
    """Return the scores by number of copies, one for each of SEEDS.

    Raises ValueError where they are not in this copy.
    """
    with Recorded(folder / FILE, COMMAND) as content:
        scores = typed(content["scores"], dict[int, tuple[Score, ...]])
        return {copies: scores[copies] for copies in COPIES}
