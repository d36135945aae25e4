"""Two more tasks with many steps: adding several digits, and who has the ball after exchanges.

`python -m experiments make think-tasks` trains the models again and writes
`data/experiments/think-tasks.json`. Each task is answered at once, after dots, or after steps that
the model writes, as parity is in `llmviz.course.lessons.reasoning.think_first`.

A text is: the items, blanks up to SLOTS places, "=", the path, ":", the answer. B texts, T tokens.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from llmviz.course.lessons.reasoning.parity_texts import WAYS
from llmviz.course.lessons.reasoning.think_first import SEEDS, Share
from llmviz.files.paths import EXPERIMENT_FOLDER
from llmviz.records import Recorded, typed

if TYPE_CHECKING:
    pass

FILE = "think-tasks.json"
COMMAND = "python -m experiments make think-tasks"
SIGNS = BLANK, EQUALS, DOT, COLON = ("_", "=", ".", ":")
SUMS, BALL = "sums", "ball"
PEOPLE = "ABCDE"
SLOTS = 12  # places for items
TRAINED = 10  # most items of a text that is trained on
LENGTHS = (1, 2, 4, 6, 8, 10, 11, 12)  # that are measured
TESTS = 200  # texts of each length
BATCH, STEPS, RATE, WARMUP = 64, 2000, 2e-3, 100


@dataclass(frozen=True)
class Task:
    """Items that come one after the other, and what each makes of the state before it.

    The path is the state behind each item, and the answer is the last one. table (states, items):
    the next state. The first state is the one before all items.
    """

    items: tuple[str, ...]
    states: tuple[str, ...]
    table: np.ndarray

    @cached_property
    def tokens(self) -> tuple[str, ...]:
        """Signs, items, states; a token's number is its place. A sign comes as no other token."""
        return (*SIGNS, *self.items, *self.states)

    def paths(self, items: np.ndarray) -> np.ndarray:
        """Return the states (…, N) behind each of N items (…, N), both as numbers from 0."""
        state, found = np.zeros(items.shape[:-1], int), np.empty_like(items)
        for at in range(items.shape[-1]):
            state = found[..., at] = self.table[state, items[..., at]]
        return found

    def spelled(self, items: Sequence[int]) -> tuple[str, str]:
        """Return items and their path as they are read."""
        path = self.paths(np.array(items))
        return " ".join(self.items[number] for number in items), " ".join(
            self.states[state] for state in path
        )


def _sums() -> Task:
    """Digits are added; the state is the sum so far."""
    most = 9 * SLOTS
    table = np.minimum(np.arange(most + 1)[:, None] + np.arange(10), most)
    return Task(tuple("0123456789"), tuple(map(str, range(most + 1))), table)


def _ball() -> Task:
    """Two people exchange what they hold; the state is who has the ball, A at first."""
    pairs = list(combinations(range(len(PEOPLE)), 2))
    table = np.repeat(np.arange(len(PEOPLE))[:, None], len(pairs), 1)
    for at, (left, right) in enumerate(pairs):
        table[left, at], table[right, at] = right, left
    return Task(tuple(PEOPLE[left] + PEOPLE[right] for left, right in pairs), tuple(PEOPLE), table)


TASKS = {SUMS: _sums(), BALL: _ball()}


@dataclass(frozen=True)
class Measured:
    """One model: by length, the right answers, and the paths of its own without a mistake.

    loss: the mean of its last hundred steps, in nats per token. steps_right: empty without a path.
    """

    task: str
    way: str
    seed: int
    loss: float
    right: dict[int, Share]
    steps_right: dict[int, Share]


@cache
def recorded(folder: Path = EXPERIMENT_FOLDER) -> dict[tuple[str, str], list[Measured]]:
    """Return the results by task and way, three models each. ValueError: missing or damaged."""
    with Recorded(folder / FILE, COMMAND) as content:
        found: dict[tuple[str, str], list[Measured]] = {
            (name, way): [] for name in TASKS for way in WAYS
        }
        for measured in typed(content["models"], list[Measured]):
            found[measured.task, measured.way].append(measured)
        if any(len(models) != len(SEEDS) for models in found.values()):
            raise ValueError("models are missing")
        return found
