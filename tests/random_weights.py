"""Models whose weights are all random: an untrained one is too even to tell tokens apart."""

from __future__ import annotations

from typing import TypeVar

import torch
from torch import nn

from llmviz.models import GPT, GPTConfig

Model = TypeVar("Model", bound=nn.Module)


def with_random_weights(model: Model, spread: float) -> Model:
    """Draw all numbers of a model, its biases too, from a normal distribution; return the model."""
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=spread)
    return model


def random_gpt(spread: float, **options: object) -> GPT:
    """A GPT of these settings with random weights, the same each time."""
    torch.manual_seed(0)
    return with_random_weights(GPT(GPTConfig(**options)).eval(), spread)
