"""What training holds besides activations, measured on a real model and a real optimizer."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from torch import Tensor

    from llmviz.models.settings import GPTConfig


class OptimizerBytes(NamedTuple):
    """Bytes of the tensors that exist after one step of AdamW in float32."""

    parameters: int  # how many numbers the model learns
    weights: int
    gradients: int
    averages: int  # of the gradients and of their squares
    counters: int  # how many steps each tensor has made, one number a tensor


def optimizer_bytes(config: GPTConfig) -> OptimizerBytes:
    """Build a model of these settings, train it for one step on one token, and count its bytes."""
    import torch

    from llmviz.models.gpt import GPT
    from llmviz.training.config import TrainConfig
    from llmviz.training.preparation import make_optimizer

    with torch.random.fork_rng(devices=[]):
        model = GPT(config)
    optimizer = make_optimizer(model, TrainConfig(optimizer="adamw"))
    token = torch.zeros(1, 1, dtype=torch.long)
    model(token, token)[1].backward()
    optimizer.step()
    weights = list(model.parameters())
    held = [value for state in optimizer.state.values() for value in state.values()]
    averages = [value for value in held if value.dim()]
    return OptimizerBytes(
        sum(weight.numel() for weight in weights),
        _bytes(weights),
        _bytes(weight.grad for weight in weights if weight.grad is not None),
        _bytes(averages),
        _bytes(value for value in held if not value.dim()),
    )


def _bytes(tensors: Iterable[Tensor]) -> int:
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors)
