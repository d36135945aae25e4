"""A small transformer that learns sums modulo a prime: by heart first, and much later as a rule.

P the modulus, C the width of the embedding, F frequencies 1 … (P − 1) / 2, S moments.

Reference: Power et al. 2022, "Grokking"; Nanda et al. 2023, "Progress measures for grokking via
mechanistic interpretability". The model is a GPT of one layer without norms, as there, and begins
with the initial values of the latter. Deviations: the head also has a row for the sign "=", and no
linear layer has a bias.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from llmviz.interpretability.moments import Moments

if TYPE_CHECKING:
    from torch import Tensor

    from llmviz.models import GPT

LEARNED = 0.99  # a share of right answers from which on a part of the sums counts as learned
BEYOND = 0.75  # of its steps that a training goes on when the new sums are learned
MOMENTS, EVERY = 24, 50  # moments that are kept: so many with growing distances, and each so many
WARM_UP = 10  # steps
MOST_MODULUS = 113
CURVES = ("step", "shown_right", "turned_right", "new_right", "shown_loss", "new_loss")


@dataclass(frozen=True)
class Sums:
    """A task and a training: a prime P, the share of all sums that is shown, and the optimizer's.

    Raises ValueError naming the rule and the value.
    """

    modulus: int = 59
    share: float = 0.4
    decay: float = 1.0
    seed: int = 0
    width: int = 64
    most: int = 4000  # steps
    rate: float = 3e-3

    def __post_init__(self) -> None:
        p = self.modulus
        if not 3 <= p <= MOST_MODULUS or any(p % n == 0 for n in range(2, p)):
            raise ValueError(f"the modulus must be a prime from 3 to {MOST_MODULUS}; got {p}")
        if not 0 < self.share < 1 or not 0 < round(self.share * p**2) < p**2:
            raise ValueError(f"some sums must be shown and some not; got a share of {self.share}")
        if not self.new.any():
            raise ValueError(f"some sums must be new in both orders; got a share of {self.share}")
        if not self.decay >= 0:
            raise ValueError(f"weight decay must be at least 0; got {self.decay}")

    @property
    def pairs(self) -> np.ndarray:
        """All pairs (P², 2) of numbers to add."""
        numbers = np.arange(self.modulus)
        return np.stack(np.meshgrid(numbers, numbers, indexing="ij"), -1).reshape(-1, 2)

    @property
    def answers(self) -> np.ndarray:
        """The sum of each pair (P²,)."""
        return self.pairs.sum(1) % self.modulus

    @cached_property
    def shown(self) -> np.ndarray:
        """Which sums are shown in training (P²,)."""
        order = np.random.default_rng(self.seed).permutation(self.modulus**2)
        shown = np.zeros(len(order), bool)
        shown[order[: round(self.share * len(order))]] = True
        return shown

    @cached_property
    def turned(self) -> np.ndarray:
        """Which sums are not shown themselves, but in the other order: 3 + 5 for 5 + 3 (P²,)."""
        return ~self.shown & self._other_order

    @cached_property
    def new(self) -> np.ndarray:
        """Which sums are shown in neither order (P²,)."""
        return ~self.shown & ~self._other_order

    @property
    def _other_order(self) -> np.ndarray:
        return self.shown.reshape(self.modulus, self.modulus).T.reshape(-1)


@dataclass(frozen=True, eq=False)
class Moment:
    """A model after so many steps: shares of right sums, losses in nats, its numbers' rows (P, C).

    power (F,): the share of each frequency in what differs between the rows.
    """

    step: int
    shown_right: float
    turned_right: float
    new_right: float
    shown_loss: float
    new_loss: float
    power: np.ndarray
    rows: np.ndarray | None = None


@dataclass(frozen=True, eq=False)
class Film(Moments):
    """A training so far: its task and its moments, at least one."""

    task: Sums
    moments: Sequence[Moment]

    def first(self, name: str) -> int | None:
        """The place of the first moment at which a share of right answers is learned, or None."""
        reached = np.flatnonzero(self.curve(name) >= LEARNED)
        return int(reached[0]) if len(reached) else None

    def step_of(self, name: str) -> int | None:
        """The step at which a share of right answers is first found to be learned, or None."""
        place = self.first(name)
        return None if place is None else self.moments[place].step

    @property
    def memorised_at(self) -> int | None:
        """The step at which the shown sums are first found to be learned, or None."""
        return self.step_of("shown_right")

    @property
    def generalised_at(self) -> int | None:
        """The step at which the new sums are first found to be learned, or None."""
        return self.step_of("new_right")

    def strongest(self, count: int) -> list[int]:
        """The frequencies that hold most at the last moment, the strongest first."""
        return [int(place) + 1 for place in np.argsort(-self.last.power, kind="stable")[:count]]

    def held(self, count: int) -> np.ndarray:
        """The share that the strongest frequencies of the last moment hold at each moment (S,)."""
        places = np.array(self.strongest(count)) - 1
        return np.array([moment.power[places].sum() for moment in self.moments])


def model_of(task: Sums) -> GPT:
    """Return the untrained model of a task; its numbers depend on the seed alone.

    Each matrix begins with normal numbers of deviation 1/√C.
    """
    import torch

    from llmviz.models import GPT, GPTConfig

    model = GPT(
        GPTConfig(
            vocab_size=task.modulus + 1,
            context_length=3,
            n_layer=1,
            n_head=4,
            n_embd=task.width,
            norm="none",
            activation="relu",
            tied_head=False,
            bias=False,
            qkv_bias=False,
        )
    )
    generator = torch.Generator().manual_seed(task.seed)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_(std=task.width**-0.5, generator=generator)
    return model


def inputs_of(task: Sums) -> Tensor:
    """Return what the model reads for every sum (P², 3): a, b and the sign "=", whose id is P."""
    from torch import from_numpy

    return from_numpy(np.column_stack([task.pairs, np.full(task.modulus**2, task.modulus)]))


def answer_logits(model: GPT, inputs: Tensor) -> Tensor:
    """Return the logits (B, P + 1) behind the "=" of sums (B, 3)."""
    return model(inputs, positions=inputs.new_full((len(inputs),), 2))[0][:, 0]


def all_logits(task: Sums, model: GPT) -> np.ndarray:
    """Return the logits (P², P + 1) of the answer to every sum, float64."""
    from torch import no_grad

    with no_grad():
        return answer_logits(model, inputs_of(task)).double().numpy()


def moments_of(most: int) -> list[int]:
    """Return the steps at which a training is looked at; the last is among them.

    >>> moments_of(12)[:5]
    [1, 2, 3, 4, 5]
    """
    grown = np.geomspace(1, most, MOMENTS).round().astype(int)
    return sorted({*grown.tolist(), *range(EVERY, most + 1, EVERY)})


def train(task: Sums) -> Iterator[tuple[Moment, GPT]]:
    """Train a model on all shown sums at each step; yield its moments and this one model.

    The training ends some time after the new sums are learned, or after the most steps.
    """
    import torch
    from torch.nn.functional import cross_entropy

    model = model_of(task)
    shown = torch.from_numpy(task.shown)
    inputs, answers = inputs_of(task)[shown], torch.from_numpy(task.answers)[shown]
    optimizer = torch.optim.AdamW(
        model.parameters(), lr=task.rate, betas=(0.9, 0.98), weight_decay=task.decay
    )
    warm = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1, (step + 1) / WARM_UP))
    due, end = set(moments_of(task.most)), task.most
    for step in range(1, task.most + 1):
        optimizer.zero_grad()
        # In float32 a loss of 1e-7 has no gradient any more, and the training jumps.
        cross_entropy(answer_logits(model, inputs).double(), answers).backward()
        optimizer.step()
        warm.step()
        if step in due or step == end:
            moment = moment_of(task, model, step)
            yield moment, model
            if step == end:
                return
            if moment.new_right >= LEARNED and end == task.most:
                end = min(end, round((1 + BEYOND) * step))


def learn(task: Sums) -> Iterator[Moment]:
    """Train a model and yield its moments, without their rows."""
    for moment, _ in train(task):
        yield replace(moment, rows=None)


def moment_of(task: Sums, model: GPT, step: int) -> Moment:
    """Return what a model knows after a step."""
    from llmviz.evaluation.exact_loss import log_softmax

    logits, answers = all_logits(task, model), task.answers
    right = logits.argmax(-1) == answers
    losses = -log_softmax(logits)[np.arange(len(answers)), answers]
    table: Any = model.token.weight
    rows = table.detach().numpy()[: task.modulus].copy()
    return Moment(
        step,
        shown_right=float(right[task.shown].mean()),
        turned_right=float(right[task.turned].mean()),
        new_right=float(right[task.new].mean()),
        shown_loss=float(losses[task.shown].mean()),
        new_loss=float(losses[task.new].mean()),
        power=power(rows),
        rows=rows,
    )


def power(rows: np.ndarray) -> np.ndarray:
    """Return the share of each frequency 1 … F in what differs from number to number.

    rows (P, C). The shares (F,) add up to 1: by Parseval they divide the squared distance of all
    numbers from their mean.
    """
    waves = np.abs(np.fft.rfft(np.asarray(rows, float), axis=0)[1:]) ** 2
    shares = waves.sum(1)
    return shares / shares.sum()


def plane(rows: np.ndarray, frequency: int) -> np.ndarray:
    """Return two directions (2, C): those along which the numbers' cosine and sine are written.

    They are at right angles and of length 1. Of a table with more columns than numbers, such
    directions can be found for any frequency; so a film looks along those of its last moment.
    """
    table = np.asarray(rows, float)
    angles = 2 * np.pi * frequency * np.arange(len(table)) / len(table)
    written = np.stack([np.cos(angles), np.sin(angles)]) @ table  # (2, C)
    first = written[0] / np.linalg.norm(written[0])
    second = written[1] - (written[1] @ first) * first
    return np.stack([first, second / np.linalg.norm(second)])


def heights(logits: np.ndarray, modulus: int) -> np.ndarray:
    """Return how high the wave of each frequency 1 … F of a + b − c stands in the logits (F,).

    logits (P², P): of all sums. The mean over all sums of the logit of the answer that is d too
    small is Σ_k height_k · cos(2πkd/P), the constant and what is not even in d left out.
    """
    answers = np.arange(modulus)
    sums = (answers[:, None] + answers[None, :]).reshape(-1)
    too_small = (sums[:, None] - answers[None, :]) % modulus  # (P², P)
    mean = np.bincount(too_small.ravel(), logits[:, :modulus].ravel(), modulus) / modulus**2
    return np.fft.rfft(mean)[1:].real * 2 / modulus


def explained(logits: np.ndarray, frequencies: np.ndarray, high: np.ndarray) -> float:
    """Return the share of the logits' squared differences from their mean that waves explain.

    logits (P², P): of all sums, the mean taken over the answers of each. The waves are
    Σ_k height_k · cos(2πk(a + b − c)/P). The share is below 0 where they are worse than nothing.
    """
    modulus = logits.shape[1]
    answers = np.arange(modulus)
    sums = (answers[:, None] + answers[None, :]).reshape(-1)
    turns = 2 * np.pi * np.outer(frequencies, np.arange(modulus)) / modulus
    wave = high @ np.cos(turns)  # (P,), by how much too small the answer is
    own = logits - logits.mean(1, keepdims=True)
    missed = own - wave[(sums[:, None] - answers[None, :]) % modulus]
    return float(1 - (missed**2).sum() / (own**2).sum())
