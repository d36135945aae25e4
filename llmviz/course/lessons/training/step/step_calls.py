"""What each call of a training step changes, what the two modes do, and what a resumed run is.

All on the model of `one_step`, and with the training loop's own functions.
"""

from __future__ import annotations

import dataclasses
import math
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from llmviz.course.lessons.training.step.one_step import (
    STEPS,
    StepChoice,
    prepared,
    trained_before,
)

if TYPE_CHECKING:
    from torch import Tensor

    from llmviz.models.base import LanguageModel
    from llmviz.training.checkpoints import Checkpoint

DROPOUT = 0.2  # of the copy that shows the two modes


@dataclass(frozen=True)
class Call:
    """What one call changed: the weights, and the gradient that is kept beside them."""

    name: str
    moved: float  # largest change of a weight
    norm: float  # length of the gradient afterwards, 0 where there is none


def calls(choice: StepChoice) -> list[Call]:
    """Follow a step call by call, with a second `backward` that no `zero_grad` came before."""
    import torch
    from torch.nn.utils import clip_grad_norm_

    from llmviz.training.schedule import learning_rate_at

    data, model, optimizer, _ = trained_before(choice)
    batch = data.batch(choice.step, choice.rows)
    for group in optimizer.param_groups:
        group["lr"] = learning_rate_at(choice.step, choice.config())

    def backward() -> None:
        model(*batch)[1].backward()

    def clip() -> None:
        clip_grad_norm_(model.parameters(), choice.config().grad_clip or math.inf)

    followed: list[Call] = []
    for name, call in (
        ("forward", lambda: model(*batch)),
        ("backward", backward),
        ("backward again", backward),
        ("zero_grad", optimizer.zero_grad),
        ("backward anew", backward),
        ("clip", clip),
        ("step", optimizer.step),
    ):
        if not followed:
            optimizer.zero_grad()
        before = _weights(model)
        call()
        gradients = [weight.grad for weight in model.parameters() if weight.grad is not None]
        norm = float(torch.nn.utils.get_total_norm(gradients)) if gradients else 0.0
        followed.append(Call(name, float((_weights(model) - before).abs().max()), norm))
    return followed


def _weights(model: LanguageModel) -> Tensor:
    import torch

    return torch.cat([weight.detach().flatten() for weight in model.parameters()])


@dataclass(frozen=True)
class Modes:
    """The loss of one batch with the same weights, in nats, measured twice in each mode."""

    training: tuple[float, float]
    inference: tuple[float, float]


def modes(choice: StepChoice) -> Modes:
    """Measure the step's batch in training mode and in inference mode, with dropout."""
    import torch

    data, model, _, _ = trained_before(choice)
    batch = data.batch(choice.step, choice.rows)
    _, _, copy = prepared(choice, DROPOUT)
    copy.load_state_dict(model.state_dict())

    def measured() -> float:
        return float(copy(*batch)[1])

    with torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.default_generator.manual_seed(choice.seed)
        copy.train()
        training = measured(), measured()
        copy.eval()
        return Modes(training, (measured(), measured()))


@dataclass(frozen=True)
class Resumed:
    """A run that was saved in its middle, and two that went on from there; losses in nats."""

    step: int  # at which it was saved
    files: Mapping[str, int]  # bytes of each file of the checkpoint
    loss: float  # of the last step of the run that never stopped
    resumed_loss: float  # of the one that was loaded and went on
    resumed_apart: float  # its largest difference of a weight to the run that never stopped
    weights_only_loss: float  # of the one that was given the weights without the optimizer's memory
    weights_only_apart: float


def resumed(choice: StepChoice) -> Resumed:
    """Save a run in its middle, load it, go on, and compare with the run that never stopped."""
    from llmviz.training.checkpoints import load_checkpoint, save_checkpoint
    from llmviz.training.loop import train

    config, middle = choice.config(), STEPS // 2

    def run(start: Checkpoint | None, folder: str = "") -> tuple[Tensor, float]:
        _, data, model = prepared(choice)

        def save(checkpoint: Checkpoint, keep: bool) -> None:
            if folder:
                save_checkpoint(folder, checkpoint, keep=True)

        records = list(train(model, data, config, resume=start, save=save))
        return _weights(model), records[-1].train_loss

    with tempfile.TemporaryDirectory() as folder:
        whole, loss = run(None, folder)
        checkpoint = load_checkpoint(folder, middle)
        paths = sorted(Path(checkpoint.source).iterdir())
        files = {path.name: path.stat().st_size for path in paths}
    again, again_loss = run(checkpoint)
    forgetful = dataclasses.replace(checkpoint, optimizer=_forgotten(checkpoint.optimizer))
    other, other_loss = run(forgetful)
    return Resumed(
        step=middle,
        files=files,
        loss=loss,
        resumed_loss=again_loss,
        resumed_apart=float((again - whole).abs().max()),
        weights_only_loss=other_loss,
        weights_only_apart=float((other - whole).abs().max()),
    )


def _forgotten(memory: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """An optimizer's state as it was before its first step: all zeros."""
    return {name: values.new_zeros(values.shape) for name, values in memory.items()}
