"""A window model that learns names, filmed: its 2-D map of letters, and what reaches its tanh.

Two models learn in step: one with batch norm and one without, with the same first weights and the
same names. For a process of its own: see `llmviz.background`. Torch is imported on first use.

V vocabulary, F hidden width.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from llmviz.training.config import ON_ONE_CORE, Plan, TrainConfig

if TYPE_CHECKING:
    from torch import Tensor, nn


SATURATED = 0.97  # a tanh above it, or below minus that, has a slope under 0.06
REACH, BARS = 8.0, 64  # what the histograms show: from −8 to 8; what is farther is in the end bars
WATCHED = 200  # held-out names that the numbers before the tanh are counted on
FRAMES = 60


@dataclass(frozen=True)
class MapSettings:
    """What is trained: window (letters), hidden units, steps; how large the first weights are.

    scale: times the usual first weights of the hidden layer.
    """

    window: int = 3
    hidden: int = 64
    steps: int = 600
    scale: float = 1.0
    activation: str = "tanh"
    seed: int = 0

    def plan(self, *, batch_norm: bool) -> Plan:
        """The plan of one of the two trainings."""
        options = {
            "window": self.window,
            "n_embd": 2,
            "hidden_size": self.hidden,
            "batch_norm": batch_norm,
            "hidden_activation": self.activation,
        }
        train = TrainConfig(
            steps=self.steps,
            batch_size=64,
            learning_rate=1e-2,
            min_lr=1e-4,
            warmup_steps=min(20, self.steps),
            weight_decay=0.0,
            eval_every=0,
            eval_batches=1,
            log_every=max(1, self.steps // FRAMES),
            checkpoint_every=0,
            seed=self.seed,
            **ON_ONE_CORE,
        )
        return Plan(
            model="mlp",
            model_options=options,
            corpus="names",
            tokenizer="char",
            context_length=16,
            windows="padded",
            train=train,
        )


@dataclass(frozen=True)
class Activity:
    """The numbers before an activation function on all watched letters, and what it makes of them.

    counts (BARS,): how many of them lie where, from −REACH to REACH. saturated: the share whose
    slope is next to 0. dead: units that are so on every letter; of `units`.
    """

    counts: np.ndarray
    mean: float
    deviation: float
    saturated: float
    dead: int
    units: int


@dataclass(frozen=True)
class MapFrame:
    """The state of both trainings after a step, by whether batch norm is on."""

    step: int
    vectors: dict[bool, np.ndarray]  # (letters, 2) each
    losses: dict[bool, float]  # nats per letter: the mean since the last frame; first weights: NaN
    activity: dict[bool, Activity]


@dataclass(frozen=True)
class MapStart:
    """What is known before the first frame: the letters whose vectors are shown, and all steps."""

    letters: tuple[str, ...]
    steps: int


def activity(before: Tensor, activation: str) -> Activity:
    """Count numbers before an activation function, (N, F): see `Activity`.

    A tanh is saturated above 0.97 and below −0.97, a ReLU at and below 0.
    """
    flat = before <= 0 if activation == "relu" else before.tanh().abs() > SATURATED
    inputs = before.flatten().clamp(-REACH, REACH).double().numpy()
    counts, _ = np.histogram(inputs, BARS, (-REACH, REACH))
    return Activity(
        counts,
        float(before.mean()),
        float(before.double().std(correction=0)),
        float(flat.double().mean()),
        int(flat.all(0).sum()),
        before.shape[1],
    )


def before_activation(model: nn.Module, ids: Tensor, there: Tensor) -> Tensor:
    """Return what the first hidden layer's activation function reads: (N, F).

    ids (B, T) and there (B, T) bool: which of them are letters of a name. Batch norm takes the
    mean and the variance of these names, as in training.
    """
    import torch

    from llmviz.models.mlp import MLP
    from llmviz.trace import record

    assert isinstance(model, MLP)
    layer, was = model.layers[0], model.training
    kept = {name: value.clone() for name, value in layer.norm.named_buffers()}
    model.train()
    with torch.no_grad(), record("layers.0.norm") as trace:
        model(ids)
    model.train(was)
    for name, value in kept.items():  # looking changes nothing
        layer.norm.get_buffer(name).copy_(value)
    return trace["layers.0.norm"][there]


def film(settings: MapSettings) -> Iterator[MapStart | MapFrame]:
    """Train both models and yield the start, the first weights, then a frame every few steps.

    Raises ValueError for settings that do not go together.
    """
    import torch

    from llmviz.training.loop import train
    from llmviz.training.plan import prepare

    runs = {flag: prepare(settings.plan(batch_norm=flag)) for flag in (True, False)}
    with torch.no_grad():  # the same first weights for both, times the scale
        first = runs[True].model
        for name, value in runs[False].model.named_parameters():
            if name in (known := dict(first.named_parameters())):
                value.copy_(known[name])
        for run in runs.values():
            run.model.get_parameter("layers.0.linear.weight").mul_(settings.scale)
    tokenizer = runs[True].tokenizer
    letters = [i for i in range(tokenizer.vocab_size) if i not in tokenizer.special_tokens.values()]
    yield MapStart(tuple(tokenizer.decode([i]) for i in letters), settings.steps)
    ids, targets = next(iter(runs[True].data.validation_batches(WATCHED, 1)))
    there = targets >= 0

    def frame(step: int, losses: dict[bool, float]) -> MapFrame:
        seen = {flag: before_activation(run.model, ids, there) for flag, run in runs.items()}
        return MapFrame(
            step,
            {
                flag: run.model.get_parameter("token.weight").detach()[letters].clone().numpy()
                for flag, run in runs.items()
            },
            losses,
            {flag: activity(x, settings.activation) for flag, x in seen.items()},
        )

    yield frame(0, {flag: float("nan") for flag in runs})
    trainings = {flag: train(run.model, run.data, run.config) for flag, run in runs.items()}
    for with_norm, without in zip(trainings[True], trainings[False], strict=True):
        yield frame(with_norm.step, {True: with_norm.train_loss, False: without.train_loss})
