"""A small transformer that learns sums modulo a prime: by heart first, and much later as a rule.

P the modulus, C the width of the embedding, F frequencies 1 … (P − 1) / 2, S moments.

Reference: Power et al. 2022, "Grokking"; Nanda et al. 2023, "Progress measures for grokking via
mechanistic interpretability". The model is a GPT of one layer without norms, as there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from torch import Tensor, nn

LEARNED = 0.999  # a share of right answers from which on a part of the sums counts as learned
BEYOND = 0.25  # of its steps that a training goes on when all new sums are right
MOMENTS, EVERY = 40, 400  # moments that are kept: so many with growing distances, and each so many


@dataclass(frozen=True)
class Sums:
    """A task and a training: a prime P, the share of all sums that is shown, and the optimizer's.

    Raises ValueError naming the rule and the value.
    """

    modulus: int = 59
    share: float = 0.4
    decay: float = 1.0
    width: int = 64
    seed: int = 0
    most: int = 12_000  # steps
    rate: float = 1e-3
    first: float = 3.0  # times the usual size of first weights

    def __post_init__(self) -> None:
        if self.modulus < 3 or any(self.modulus % n == 0 for n in range(2, self.modulus)):
            raise ValueError(f"the modulus must be a prime of at least 3; got {self.modulus}")
        if not 0 < self.share < 1 or not 0 < len(self.shown) < self.modulus**2:
            raise ValueError(f"some sums must be shown and some not; got a share of {self.share}")

    @property
    def pairs(self) -> np.ndarray:
        """All pairs (P², 2) of numbers to add."""
        numbers = np.arange(self.modulus)
        return np.stack(np.meshgrid(numbers, numbers, indexing="ij"), -1).reshape(-1, 2)

    @property
    def shown(self) -> np.ndarray:
        """The places in `pairs` of the sums that are shown in training.

        A new sum may be one that is shown with its numbers in the other order.
        """
        order = np.random.default_rng(self.seed).permutation(self.modulus**2)
        return np.sort(order[: round(self.share * self.modulus**2)])


@dataclass(frozen=True, eq=False)
class Moment:
    """A model after so many steps: shares of right sums, losses in nats, its table (P, C)."""

    step: int
    shown_right: float
    new_right: float
    shown_loss: float
    new_loss: float
    embedding: np.ndarray


@dataclass(frozen=True)
class SumData:
    """All sums that are shown, as one batch: the model reads a, b, = and is to say the sum."""

    task: Sums
    context_length: int = 3

    @property
    def vocab_size(self) -> int:
        """The numbers, and the sign “=”."""
        return self.task.modulus + 1

    def batch(self, step: int, rows: int) -> tuple[Tensor, ...]:
        """The same sums at each step."""
        return batch_of(self.task, self.task.shown)

    def validation_batches(self, rows: int, count: int) -> Iterator[tuple[Tensor, ...]]:
        """The sums that are not shown, as one batch."""
        every = np.arange(self.task.modulus**2)
        yield batch_of(self.task, np.setdiff1d(every, self.task.shown))

    def count(self, batch: tuple[Tensor, ...]) -> int:
        """One answer a row."""
        return len(batch[0])


def batch_of(task: Sums, places: np.ndarray) -> tuple[Tensor, Tensor]:
    """Return inputs (B, 3) and targets (B, 3), of which the last alone carries loss."""
    from torch import from_numpy

    from llmviz.nn.loss import IGNORED

    pairs = task.pairs[places]
    inputs = np.column_stack([pairs, np.full(len(pairs), task.modulus)])
    targets = np.full_like(inputs, IGNORED)
    targets[:, 2] = pairs.sum(1) % task.modulus
    return from_numpy(inputs.copy()), from_numpy(targets)


def model_of(task: Sums) -> nn.Module:
    """Return the untrained model of a task; its numbers depend on seed, width and `first`."""
    from torch import manual_seed, no_grad

    from llmviz.models import build

    manual_seed(task.seed)
    sizes = {"vocab_size": task.modulus + 1, "context_length": 3, "n_layer": 1, "n_head": 4}
    kind = {"norm": "none", "activation": "relu", "tied_head": False, "bias": False}
    model = build("gpt", {**sizes, **kind, "qkv_bias": False, "n_embd": task.width})
    with no_grad():
        for weights in model.parameters():
            weights.mul_(task.first)
    return model


def moments_of(most: int) -> list[int]:
    """Return the steps at which a training is looked at.

    >>> moments_of(12)[:5]
    [1, 2, 3, 4, 5]
    """
    grown = np.geomspace(1, most, MOMENTS).round().astype(int)
    return sorted({*grown.tolist(), *range(EVERY, most + 1, EVERY)})


def learn(task: Sums) -> Iterator[tuple[Moment, nn.Module]]:
    """Train a model and yield its moments; it is the same model each time.

    The training ends some time after all new sums are right, or after the most steps.
    """
    from llmviz.training.config import ON_ONE_CORE, TrainConfig
    from llmviz.training.loop import train

    data, model = SumData(task), model_of(task)
    config = TrainConfig(
        steps=task.most,
        batch_size=len(task.shown),
        learning_rate=task.rate,
        schedule="constant",
        warmup_steps=10,
        weight_decay=task.decay,
        beta2=0.98,
        grad_clip=0.0,
        eval_every=0,
        checkpoint_every=0,
        log_every=1,
        seed=task.seed,
        **ON_ONE_CORE,
    )
    due, end = set(moments_of(task.most)), task.most
    for record in train(model, data, config):
        if record.step not in due and record.step < end:
            continue
        moment = moment_of(task, model, record.step)
        yield moment, model
        if record.step >= end:
            return
        if moment.new_right >= LEARNED and end == task.most:
            end = min(end, round((1 + BEYOND) * record.step))


def moments(task: Sums) -> Iterator[Moment]:
    """Train a model and yield its moments alone, which travel from one process to another."""
    for moment, _ in learn(task):
        yield moment


def moment_of(task: Sums, model: nn.Module, step: int) -> Moment:
    """Return what a model knows after a step."""
    logits = all_logits(task, model)
    sums = task.pairs.sum(1) % task.modulus
    shown = np.zeros(len(sums), bool)
    shown[task.shown] = True
    right = logits.argmax(-1) == sums
    shifted = logits - logits.max(-1, keepdims=True)
    losses = np.log(np.exp(shifted).sum(-1)) - shifted[np.arange(len(sums)), sums]
    table: Any = model.token
    return Moment(
        step,
        float(right[shown].mean()),
        float(right[~shown].mean()),
        float(losses[shown].mean()),
        float(losses[~shown].mean()),
        table.weight.detach().numpy()[: task.modulus].copy(),
    )


def all_logits(task: Sums, model: nn.Module) -> np.ndarray:
    """Return the logits (P², P + 1) of the answer to every sum, float64."""
    from torch import no_grad

    inputs, _ = batch_of(task, np.arange(task.modulus**2))
    model.eval()
    with no_grad():
        logits = model(inputs)[0][:, -1]
    model.train()
    return logits.double().numpy()


def power(embedding: np.ndarray) -> np.ndarray:
    """Return the share of each frequency 1 … F in what differs from number to number.

    embedding (P, C). The shares (F,) add up to 1: by Parseval they divide the squared distance of
    all numbers from their mean.
    """
    waves = np.abs(np.fft.rfft(np.asarray(embedding, float), axis=0)[1:]) ** 2
    shares = waves.sum(1)
    return shares / shares.sum()


def plane(embedding: np.ndarray, frequency: int) -> np.ndarray:
    """Return two directions (2, C): those along which the numbers' cosine and sine are written.

    They are at right angles and of length 1. Of a table with more columns than numbers, such
    directions can be found for any frequency; so a film looks along those of its last moment.
    """
    table = np.asarray(embedding, float)
    angles = 2 * np.pi * frequency * np.arange(len(table)) / len(table)
    written = np.stack([np.cos(angles), np.sin(angles)]) @ table  # (2, C)
    first = written[0] / np.linalg.norm(written[0])
    second = written[1] - (written[1] @ first) * first
    return np.stack([first, second / np.linalg.norm(second)])


def heights(logits: np.ndarray, modulus: int) -> np.ndarray:
    """Return how high the wave of each frequency 1 … F of a + b − c stands in the logits (F,).

    logits (P², P): of all sums. The mean over all sums of the logit of the answer that is d too
    small is Σ_k height_k · cos(2πkd/P), the constant left out.
    """
    answers = np.arange(modulus)
    sums = (answers[:, None] + answers[None, :]).reshape(-1)
    too_small = (sums[:, None] - answers[None, :]) % modulus  # (P², P)
    mean = np.bincount(too_small.ravel(), logits[:, :modulus].ravel(), modulus) / modulus**2
    return np.fft.rfft(mean)[1:].real * 2 / modulus


def explained(logits: np.ndarray, frequencies: np.ndarray, high: np.ndarray) -> float:
    """Return how much of what differs within each row of logits (P², P) some waves explain.

    frequencies, high (K,): the sum over k of high · cos(2πk(a + b − c)/P) is held against the
    logits. 1 is all, 0 as much as their mean explains; waves that do harm are below 0.
    """
    modulus = logits.shape[1]
    answers = np.arange(modulus)
    sums = (answers[:, None] + answers[None, :]).reshape(-1)
    wave = np.cos(2 * np.pi * np.outer(frequencies, answers) / modulus)
    added = (high @ wave)[(sums[:, None] - answers[None, :]) % modulus]
    apart = logits - logits.mean(1, keepdims=True)
    return float(1 - ((apart - added) ** 2).sum() / (apart**2).sum())
