"""Optimizers side by side on a small network: our trainer, the same weights, the same batches."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping

from llmviz.training.config import ON_ONE_CORE, TrainConfig
from llmviz.training.loop import train
from llmviz.training.plan import Plan, prepare
from llmviz.training.records import TrainRecord

# Rates at which each does well on this network; found by trying powers of the square root of ten.
RATES: dict[str, float] = {
    "sgd": 1.0,
    "momentum": 0.3,
    "nesterov": 0.3,
    "adagrad": 0.1,
    "rmsprop": 0.01,
    "adam": 0.01,
    "adamw": 0.01,
}


def race_plan(optimizer: str, rate: float, steps: int) -> Plan:
    """A small network on names: letters in a window of four, one hidden layer."""
    return Plan(
        model="mlp",
        model_options={"window": 4, "n_embd": 8, "hidden_size": 48},
        corpus="names",
        tokenizer="char",
        context_length=16,
        windows="padded",
        train=TrainConfig(
            steps=steps,
            batch_size=32,
            learning_rate=rate,
            warmup_steps=0,
            schedule="constant",
            min_lr=0.0,
            optimizer=optimizer,
            weight_decay=0.0,
            grad_clip=0.0,
            eval_every=0,
            eval_batches=0,
            log_every=1,
            checkpoint_every=0,
            **ON_ONE_CORE,
        ),
    )


def race(optimizers: Mapping[str, float], steps: int) -> Iterator[tuple[str, TrainRecord]]:
    """Train with each optimizer at its rate, one after the other; yields every record.

    The corpus is encoded once; the weights of all start equal. Raises Diverged where a loss is no
    number any more.
    """
    prepared = None
    for name, rate in optimizers.items():
        plan = race_plan(name, rate, steps)
        prepared = prepare(plan) if prepared is None else _again(prepared, plan)
        for record in train(prepared.model, prepared.data, plan.train):
            yield name, record


def _again(before, plan: Plan):
    """The same run with another optimizer: fresh weights from the same seed."""
    import torch

    from llmviz.models import build

    torch.manual_seed(plan.train.seed)
    model = build(plan.model, before.model.config.to_dict())
    return dataclasses.replace(before, model=model, config=plan.train)
