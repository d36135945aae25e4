"""A small GPT of sums that learns from rewards, watched: what it writes, and how often it is right.

`python -m experiments make reward-runs` trains all bundled runs again on one thread, some minutes,
and writes `data/experiments/reward-runs.json`. It goes on where it was stopped.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from llmviz import records
from llmviz.course.lessons.reasoning import sum_texts
from llmviz.course.lessons.reasoning.sum_texts import (
    END,
    LONGEST,
    Sum,
    decode,
    encode,
    is_right,
    question_of,
)
from llmviz.files.paths import EXPERIMENT_FOLDER
from llmviz.finetuning.pass_at_k import pass_at_k

if TYPE_CHECKING:
    from llmviz.finetuning.rewarded import RewardConfig, Update

FILE = "reward-runs.json"
COMMAND = "python -m experiments make reward-runs"
DPO = "dpo"
WAYS = ("reinforce", "baseline", "ppo", "grpo", DPO)
SEEDS = (0, 1, 2)
UPDATES, RATE, PAIR_BETA = 80, 1.5e-4, 1.0
QUESTIONS, SAMPLES = 100, 16  # of a look: held-out sums, and samples of each
MEASURED = 32  # sums of a look on which the distance from the base is measured
LOOK_SEED = 10**12  # of the samples of a look, so that none is one that was learned from
NOISE_BATCHES = 48  # of which the variance of the gradient is measured


@dataclass(frozen=True)
class Look:
    """What a model answers to held-out sums after so many updates.

    counts: of how many sums 0, 1, … all samples were right. greedy: sums that the most probable
    tokens answer rightly. with_steps: the share of samples that write steps. length: tokens of a
    sample. divergence, entropy: KL(π ‖ π₀) and the policy's own entropy, nats per written token.
    """

    step: int
    counts: tuple[int, ...]
    greedy: int
    with_steps: float
    length: float
    divergence: float
    entropy: float

    @property
    def samples(self) -> int:
        """How many samples of each sum."""
        return len(self.counts) - 1

    @property
    def questions(self) -> int:
        """How many sums."""
        return sum(self.counts)

    @property
    def right(self) -> float:
        """The share of samples that are right."""
        return self.passed(1)

    def passed(self, k: int) -> float:
        """The share of sums of which at least one of k samples is right, estimated without bias."""
        chances = [pass_at_k(self.samples, right, k) for right in range(self.samples + 1)]
        return float(np.dot(chances, self.counts)) / self.questions


def look_at(model: Any, base: Any, step: int, numbers: Sequence[Sum], samples: int) -> Look:
    """Ask a model sums; base: the model before training, which its distance is measured from."""
    import torch

    from llmviz.finetuning.policy import Written, distances
    from llmviz.finetuning.rewarded import log_probabilities
    from llmviz.finetuning.rollouts import sample_groups

    prompts = [encode(question_of(pair)) for pair in numbers]
    model.eval()
    groups = sample_groups(model, prompts, samples, LONGEST, END, LOOK_SEED)
    texts = [[decode(ids) for ids in group] for group in groups]
    right = [
        sum(is_right(pair, text) for text in group)
        for pair, group in zip(numbers, texts, strict=True)
    ]
    every = [text for group in texts for text in group]
    best = sample_groups(model, prompts, 1, LONGEST, END, LOOK_SEED, temperature=0.0)
    rows = [prompt for prompt in prompts[:MEASURED] for _ in range(samples)]
    written = Written.of(rows, [ids for group in groups[:MEASURED] for ids in group], END)
    with torch.no_grad():
        stands = distances(
            log_probabilities(model, written), log_probabilities(base, written), written
        )
    return Look(
        step,
        tuple(np.bincount(right, minlength=samples + 1).tolist()),
        sum(is_right(pair, decode(ids)) for pair, (ids,) in zip(numbers, best, strict=True)),
        float(np.mean([not text.startswith(":") for text in every])),
        float(np.mean([len(text) for text in every])),
        *stands,
    )


def questions_of(seed: int) -> Callable[[int, int], list[list[int]]]:
    """Return what gives the questions of an update: sums that are not held out."""
    known = sum_texts.sums()[0]

    def drawn(step: int, count: int) -> list[list[int]]:
        rng = np.random.default_rng((seed, step))
        places = rng.choice(len(known), count, replace=False)
        return [encode(question_of(known[at])) for at in places]

    return drawn


def numbers_in(prompt: Sequence[int]) -> Sum:
    first, second = decode(prompt).rstrip("=").split("+")
    return int(first), int(second)


def right_reward(prompt: Sequence[int], written: Sequence[int]) -> float:
    """Return 1 for a right answer, else 0."""
    return float(is_right(numbers_in(prompt), decode(written)))


def config_of(way: str, seed: int = 0, updates: int = UPDATES, **more: Any) -> RewardConfig:
    """Return the settings of a run; those of DPO say which samples its pairs come from."""
    from llmviz.finetuning.rewarded import RewardConfig

    settings: dict[str, Any] = {"rate": RATE, "longest": LONGEST, **more}
    return RewardConfig(
        method="grpo" if way == DPO else way, updates=updates, seed=seed, **settings
    )


def reward_run(
    config: RewardConfig, every: int = 0, questions: int = QUESTIONS, samples: int = SAMPLES
) -> Iterator[Update | Look]:
    """Let the bundled model learn from right answers; yield each update, and looks at it.

    every: updates between two looks; 0: none but the first and the last. Raises ValueError where
    the bundled model is missing.
    """
    from llmviz.finetuning.rewarded import learn_from_rewards

    base = sum_texts.bundled()
    model, held = copy.deepcopy(base), sum_texts.sums()[1][:questions]
    yield look_at(model, base, 0, held, samples)
    prompts = questions_of(config.seed)
    for update in learn_from_rewards(model, prompts, right_reward, END, config):
        yield update
        if update.step == config.updates or (every and update.step % every == 0):
            yield look_at(model, base, update.step, held, samples)


@dataclass(frozen=True)
class Noise:
    """How far gradients of single batches lie from their mean, at the base: squared, on average.

    The same samples without a baseline and with the mean of the others. error: the standard error
    of the difference of the two.
    """

    plain: float
    compared: float
    error: float

    @property
    def sign(self) -> int:
        """1 where the baseline makes it larger, −1 smaller; 0 within two standard errors."""
        apart = self.compared - self.plain
        return 0 if abs(apart) <= 2 * self.error else 1 if apart > 0 else -1


@dataclass(frozen=True)
class Course:
    """How one update of a bundled run was, as a line of its curves."""

    step: int
    reward: float
    divergence: float
    entropy: float
    length: float


@dataclass(frozen=True)
class RewardRun:
    """A bundled run: its way, its seed, its updates (none of DPO) and the looks at it."""

    way: str
    seed: int
    updates: tuple[Course, ...]
    looks: tuple[Look, ...]

    @property
    def first(self) -> Look:
        """Before it."""
        return self.looks[0]

    @property
    def last(self) -> Look:
        """After it."""
        return self.looks[-1]


@dataclass(frozen=True)
class Recorded:
    """All bundled runs, and the noise of gradients with and without a baseline."""

    runs: dict[str, tuple[RewardRun, ...]]
    noise: Noise
    seconds: float

    def values(self, way: str, number: Callable[[Look], float]) -> np.ndarray:
        """A number of the last look of each run of a way."""
        return np.array([number(run.last) for run in self.runs[way]])

    @property
    def base(self) -> Look:
        """The model before all runs."""
        return self.runs[WAYS[0]][0].first


def _unpacked(run: dict[str, Any]) -> RewardRun:
    curves = {name: values.split() for name, values in run["updates"].items()}
    rows = zip(*(curves[name] for name in Course.__dataclass_fields__), strict=True)
    updates = tuple(Course(int(step), *map(float, numbers)) for step, *numbers in rows)
    looks = tuple(
        Look(**look | {"counts": tuple(map(int, look["counts"].split()))}) for look in run["looks"]
    )
    return RewardRun(run["way"], run["seed"], updates, looks)


@cache
def recorded(folder: Path = EXPERIMENT_FOLDER) -> Recorded:
    """Return the bundled runs. Raises ValueError where the file is missing or damaged."""
    with records.Recorded(folder / FILE, COMMAND) as content:
        every = [_unpacked(run) for run in content["runs"]]
        runs = {way: tuple(run for run in every if run.way == way) for way in WAYS}
        noise = records.typed(content["noise"], Noise)
        if any(len(some) != len(SEEDS) for some in runs.values()):
            raise TypeError(f"{len(WAYS) * len(SEEDS)} runs are needed; got {len(every)}")
        return Recorded(runs, noise, float(content["seconds"]))
