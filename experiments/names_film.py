"""The weights of the names model along its training, of the steps that the film of it stops at.

Makes what `llmviz.training.kept_weights` reads for a bundled model.
"""

from __future__ import annotations

import dataclasses
import time
from pathlib import Path
from typing import Any

import torch

from experiments._command import write_to
from llmviz.files.paths import BUNDLED_CHECKPOINTS
from llmviz.training.files import write_json
from llmviz.training.kept_weights import CARD, COMMAND, FOLDER, STEPS, WEIGHTS
from llmviz.training.loop import train
from llmviz.training.plan import prepare
from llmviz.training.reading import plan_in, read_description
from llmviz.training.tensors import save_tensors

NAME = "names-gpt"
EVERY = 20  # steps between two records of the curve, at which weights can be taken


def make(folder: Path = FOLDER, steps: tuple[int, ...] = STEPS) -> dict[str, Any]:
    """Train by the recipe again, keep the weights of some steps as float16, and return the card.

    Raises ValueError where a step is not one of the curve's points.
    """
    if any(step % EVERY for step in steps):
        raise ValueError(f"weights can be kept at multiples of {EVERY}; got {steps}")
    plan = plan_in(read_description(BUNDLED_CHECKPOINTS / NAME))
    assert plan is not None
    train_config = dataclasses.replace(
        plan.train, device="cpu", threads=1, log_every=EVERY, sample_every=0
    )
    prepared = prepare(dataclasses.replace(plan, train=train_config), COMMAND)
    begun = time.perf_counter()
    kept = {0: _weights(prepared.model)} if 0 in steps else {}
    losses: dict[int, float] = {}
    for record in train(prepared.model, prepared.data, train_config):
        if record.validation_loss is not None:
            losses[record.step] = record.validation_loss
        if record.step in steps:
            kept[record.step] = _weights(prepared.model)
        if record.step >= max(steps):
            break
    names = list(kept[steps[-1]])
    folder.mkdir(parents=True, exist_ok=True)
    save_tensors(
        folder / WEIGHTS,
        {name: torch.stack([kept[step][name] for step in steps]) for name in names},
    )
    card = {
        "command": COMMAND,
        "model": NAME,
        "steps": list(steps),
        "losses": losses,
        "seconds": round(time.perf_counter() - begun, 1),
    }
    write_json(folder / CARD, card)
    return card


def _weights(model: torch.nn.Module) -> dict[str, torch.Tensor]:
    return {name: tensor.detach().half().clone() for name, tensor in model.state_dict().items()}


if __name__ == "__main__":
    write_to(make, "Train the names model again and keep weights on its way.", FOLDER)
