"""Small models that a study trains from random weights and bundles: made, trained, read again."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

if TYPE_CHECKING:
    import torch

    from llmviz.models.gpt import GPT

M = TypeVar("M", bound="torch.nn.Module")


def new_gpt(**settings: Any) -> GPT:
    """Return a GPT with rotary positions and random weights, as torch's generator stands.

    settings: those of GPTConfig. Raises ValueError as it does.
    """
    from llmviz.models.gpt import GPT
    from llmviz.models.settings import GPTConfig

    return GPT(GPTConfig(positions="rotary", **settings))


def loss_on(model: GPT, batch: tuple[np.ndarray, np.ndarray]) -> torch.Tensor:
    """Return the loss of a model on inputs and targets (B, T) of ids, in nats per token."""
    import torch

    loss = model(*map(torch.from_numpy, batch))[1]
    assert loss is not None  # there are targets
    return loss


def descend(
    model: torch.nn.Module,
    loss_at: Callable[[int], torch.Tensor],
    steps: int,
    *,
    of: int | None = None,
    rate: float,
    warmup: int,
    floor: float = 0.1,
    clip: float = 1.0,
    **adam: Any,
) -> Iterator[float]:
    """Train a model with AdamW; yield the loss of each step, in nats, behind its update.

    loss_at: gives the loss of a step, counted from 0. of: steps of the whole training, where this
      is its beginning. rate: rises for `warmup` steps, then falls along a half cosine to `floor` of
      itself. clip: the norm that gradients are cut to. adam: settings of AdamW, such as betas;
      without any, weights decay by 0.01.
    """
    import torch

    half = (1 + floor) / 2, (1 - floor) / 2

    def share(step: int) -> float:
        down = half[0] + half[1] * math.cos(math.pi * step / (of or steps))
        return min(1, (step + 1) / warmup) * down

    optimizer = torch.optim.AdamW(model.parameters(), rate, **{"weight_decay": 0.01} | adam)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, share)
    model.train()
    for step in range(steps):
        loss = loss_at(step)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), clip)
        optimizer.step()
        schedule.step()
        yield float(loss.detach())


def read_weights(
    path: Path, command: str, make: Callable[[dict[str, torch.Tensor]], M], part: str = ""
) -> M:
    """Return a bundled model, ready for use.

    make: makes the model that the tensors of the file belong to; they are given as float32. part:
    where a file holds several models, the beginning of the names of this one's tensors.
    Raises ValueError, naming the file and the command that makes it: it is missing or damaged.
    """
    from llmviz.training.errors import CheckpointError
    from llmviz.training.tensors import load_tensors, load_weights

    try:
        tensors = {
            name.removeprefix(part): tensor.float()
            for name, tensor in load_tensors(path).items()
            if name.startswith(part)
        }
        model = make(tensors)
        load_weights(model, tensors, str(path))
    except (CheckpointError, KeyError) as error:
        raise ValueError(f"{path} is missing or damaged; `{command}` makes it") from error
    return model.eval()
