"""Before the first step: does the data fit the model, which optimizer, which arithmetic."""

from __future__ import annotations

import dataclasses
from typing import Protocol, runtime_checkable

import torch
from torch import Tensor, nn

from llmviz.models.base import LanguageModel
from llmviz.training import distributed
from llmviz.training.checkpoints import Checkpoint
from llmviz.training.config import TrainConfig
from llmviz.training.data import Batches
from llmviz.training.device import Compute, choose_device, choose_dtype, settle


def make_optimizer(model: nn.Module, config: TrainConfig) -> torch.optim.Optimizer:
    """torch's optimizer for the config; weight decay on matrices only, not on biases or norms."""
    trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
    if not trained:
        raise ValueError(f"{type(model).__name__} has no parameter to train")
    groups = [
        {"params": [p for p in trained if p.dim() >= 2], "weight_decay": config.weight_decay},
        {"params": [p for p in trained if p.dim() < 2], "weight_decay": 0.0},
    ]
    groups = [group for group in groups if group["params"]]
    lr, betas = config.learning_rate, (config.beta1, config.beta2)
    optim = torch.optim
    if config.optimizer in ("adamw", "adam"):
        kind = optim.AdamW if config.optimizer == "adamw" else optim.Adam
        fused = trained[0].device.type in ("cpu", "cuda")
        return kind(groups, lr=lr, betas=betas, fused=fused)
    if config.optimizer == "adagrad":
        return optim.Adagrad(groups, lr=lr)
    if config.optimizer == "rmsprop":
        return optim.RMSprop(groups, lr=lr, alpha=config.beta2)
    momentum = 0.0 if config.optimizer == "sgd" else config.beta1
    return optim.SGD(groups, lr=lr, momentum=momentum, nesterov=config.optimizer == "nesterov")


def check_fit(model: nn.Module, data: Batches, config: TrainConfig) -> None:
    """Raise ValueError where data, model and settings cannot go together."""
    check_recompute(model, config.recompute)
    check_label_smoothing(model, config.label_smoothing)
    longest = getattr(model, "context_length", None)
    if longest is not None and data.context_length > longest:
        raise ValueError(
            f"the data's context_length must not exceed the model's; "
            f"got {data.context_length} > {longest}"
        )
    known = getattr(getattr(model, "config", None), "vocab_size", None)
    if known is not None and data.vocab_size > known:
        raise ValueError(
            f"the tokenizer's vocabulary must not exceed the model's; "
            f"got {data.vocab_size} > {known}"
        )
    processes = distributed.current().size
    if config.batch_size < processes * config.accumulate:
        raise ValueError(
            "batch_size must be at least processes × accumulate; "
            f"got {config.batch_size} < {processes} × {config.accumulate}"
        )


@runtime_checkable
class Recomputing(Protocol):
    """A model that can compute its blocks again on the way back."""

    recompute_every: int


def check_recompute(model: nn.Module, every: int) -> None:
    """Raise ValueError where a model cannot compute its blocks again on the way back."""
    if every and not isinstance(model, Recomputing):
        raise ValueError(
            f"recompute must be 0 unless the model is a gpt or bert; got recompute={every} for a "
            f"{type(model).__name__}"
        )


def set_recompute(model: nn.Module, every: int) -> None:
    """Let a model keep the input of every so many blocks while it learns; 0: keep everything.

    Raises ValueError as `check_recompute`.
    """
    check_recompute(model, every)
    if isinstance(model, Recomputing):
        model.recompute_every = every


def check_label_smoothing(model: nn.Module, share: float) -> None:
    """Raise ValueError where a model's loss has no targets that could be smoothed."""
    if share and not isinstance(model, LanguageModel):
        raise ValueError(
            "label_smoothing must be 0 unless the model predicts tokens by a softmax; "
            f"got label_smoothing={share:g} for a {type(model).__name__}"
        )


def set_label_smoothing(model: nn.Module, share: float) -> None:
    """Let a model learn by a loss with so much label smoothing; measured losses stay plain.

    Raises ValueError as `check_label_smoothing`.
    """
    check_label_smoothing(model, share)
    if isinstance(model, LanguageModel):
        model.label_smoothing = share


def settled(
    model: nn.Module, data: Batches, config: TrainConfig, resume: Checkpoint | None
) -> Compute:
    """The arithmetic to use; a resumed run keeps what the checkpoint had for every auto."""
    if resume is not None:
        kept = {}
        if config.threads == 0:
            kept["threads"] = resume.settings.get("threads", 0)
        if config.dtype == "auto":
            kept["dtype"] = resume.settings.get("dtype", "auto")
        config = dataclasses.replace(config, **kept)
    if distributed.current().size > 1 and config.threads == 0:
        config = dataclasses.replace(config, threads=1)  # the processes share the cores
    return settle(model, _first_batch(data, config), config)


def chosen_dtype(model: nn.Module, data: Batches, config: TrainConfig) -> str:
    """The name of the arithmetic that a run begins with; ValueError for a device not there."""
    device, batch = choose_device(config.device), _first_batch(data, config)
    return str(choose_dtype(model, batch, config, device)).removeprefix("torch.")


def _first_batch(data: Batches, config: TrainConfig) -> tuple[Tensor, ...]:
    """What one pass of the first step reads."""
    return data.batch(1, -(-config.batch_size // (config.accumulate * distributed.current().size)))
