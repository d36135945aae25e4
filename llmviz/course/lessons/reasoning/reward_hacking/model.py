"""A reward that a learner puts together, and what a model of sums makes of it: is its goal met?

`python -m experiments make gamed-rewards` makes the bundled runs again on one thread, some minutes,
and writes `data/experiments/gamed-rewards.json`. It goes on where it was stopped.
"""

from __future__ import annotations

import copy
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
import regex

from llmviz import records
from llmviz.course.lessons.reasoning import sum_texts
from llmviz.course.lessons.reasoning.reward_runs import config_of, numbers_in, questions_of
from llmviz.course.lessons.reasoning.sum_texts import END, LONGEST, decode, is_right
from llmviz.files.paths import EXPERIMENT_FOLDER

FILE = "gamed-rewards.json"
COMMAND = "python -m experiments make gamed-rewards"
MOST_PATTERN = 60  # characters of an expression
MOST_REPEATS = 1000  # of all numbers in braces, multiplied: larger ones take long to prepare
PATIENCE = 0.05  # seconds that an expression may look at one text
MOST_WEIGHT = 1.0
PATTERN = r"\d+,\d+:\d\d\d;"  # of the bundled runs: two steps, and an answer of three digits
BETAS = (0.0, 0.1, 1.0)
SEEDS = (0, 1, 2)
UPDATES = 40


def compiled(pattern: str) -> regex.Pattern[str]:
    """Return a regular expression. Raises ValueError for what is none, or too much."""
    if len(pattern) > MOST_PATTERN:
        raise ValueError(f"an expression has at most {MOST_PATTERN} characters; got {len(pattern)}")
    braces = re.findall(r"\{\s*(\d*)\s*,?\s*(\d*)[^}]*\}", pattern)
    repeats = math.prod(max(1, *(int(digits or 0) for digits in pair)) for pair in braces)
    if repeats > MOST_REPEATS:
        raise ValueError(f"an expression repeats at most {MOST_REPEATS} times; got {repeats:,}")
    try:
        return regex.compile(pattern)
    except (regex.error, RecursionError, OverflowError) as error:
        raise ValueError(f"this is no regular expression: {error}") from None


@dataclass(frozen=True)
class OwnReward:
    """A reward of four parts, each with a weight from −1 to 1.

    right: for a right answer. short: for a short text: the share of the tokens that it could have
    written and did not. word: for texts that hold `holds`. form: for texts that the regular
    expression `pattern` describes from the first to the last character.

    Raises ValueError for a weight out of its range, and for a broken expression.
    """

    right: float = 0.0
    short: float = 0.0
    word: float = 0.0
    form: float = 0.0
    holds: str = ""
    pattern: str = ""

    def __post_init__(self) -> None:
        for name in ("right", "short", "word", "form"):
            value = getattr(self, name)
            if not abs(value) <= MOST_WEIGHT:
                raise ValueError(f"a weight is a number from −1 to 1; {name} is {value}")
        compiled(self.pattern)

    def parts(self, numbers: tuple[int, int], text: str) -> dict[str, float]:
        """Return what each part finds in a text, from 0 to 1, before its weight.

        Raises ValueError where the expression takes longer than PATIENCE.
        """
        try:
            form = compiled(self.pattern).fullmatch(text, timeout=PATIENCE) is not None
        except TimeoutError:
            raise ValueError(
                f"the expression took longer than {PATIENCE} seconds with {text!r}; write one "
                "that is found more quickly"
            ) from None
        return {
            "right": float(is_right(numbers, text)),
            "short": 1 - len(text) / LONGEST,
            "word": float(bool(self.holds) and self.holds in text),
            "form": float(bool(self.pattern) and form),
        }

    def of(self, numbers: tuple[int, int], text: str) -> float:
        return sum(getattr(self, name) * value for name, value in self.parts(numbers, text).items())


@dataclass(frozen=True)
class Gamed:
    """One update of a run: the reward that was asked for, and the goal that was meant.

    reward: the mean over its texts. right: the share of right answers. divergence: KL(π ‖ π₀)
    before the update, nats per token. texts: the first sum and what was written, with rewards.
    """

    step: int
    reward: float
    right: float
    divergence: float
    length: float
    flat: float
    seconds: float
    texts: tuple[tuple[str, str, float], ...] = ()


def own_run(
    reward: OwnReward, beta: float, updates: int = UPDATES, seed: int = 0
) -> Iterator[Gamed]:
    """Let the bundled model learn from a reward by GRPO; yield what each update found.

    Raises ValueError where the bundled model is missing, or an expression takes too long.
    """
    from llmviz.finetuning.rewarded import learn_from_rewards

    model = copy.deepcopy(sum_texts.bundled())
    config = config_of("grpo", seed, updates, beta=beta)
    hits: list[bool] = []

    def paid(prompt: Sequence[int], written: Sequence[int]) -> float:
        numbers, text = numbers_in(prompt), decode(written)
        hits.append(is_right(numbers, text))
        return reward.of(numbers, text)

    for update in learn_from_rewards(model, questions_of(seed), paid, END, config):
        prompt, written = update.first
        yield Gamed(
            update.step,
            update.reward,
            float(np.mean(hits)),
            update.divergence,
            update.length,
            update.flat,
            update.seconds,
            tuple((decode(prompt), decode(ids), value) for ids, value, _ in written),
        )
        hits.clear()


@dataclass(frozen=True)
class GamedRun:
    """A bundled run: its penalty, its seed, and lists of a number for each update."""

    beta: float
    seed: int
    reward: tuple[float, ...]
    right: tuple[float, ...]
    divergence: tuple[float, ...]

    def last(self, name: str, updates: int = 5) -> float:
        """The mean of a number over the last updates."""
        return float(np.mean(getattr(self, name)[-updates:]))


@cache
def recorded(folder: Path = EXPERIMENT_FOLDER) -> dict[float, tuple[GamedRun, ...]]:
    """Return the bundled runs by their penalty. ValueError where they are missing or damaged."""
    with records.Recorded(folder / FILE, COMMAND) as content:
        for row, name in product(content["runs"], ("reward", "right", "divergence")):
            row[name] = [float(number) for number in row[name].split()]
        every = records.typed(content["runs"], list[GamedRun])
        runs = {beta: tuple(run for run in every if run.beta == beta) for beta in BETAS}
        if any(len(some) != len(SEEDS) for some in runs.values()):
            raise TypeError(f"{len(BETAS) * len(SEEDS)} runs are needed; got {len(every)}")
        return runs
