"""Models whose weights are all random: an untrained one is too even to tell tokens apart."""

from __future__ import annotations

from typing import TypeVar

from torch import nn

Model = TypeVar("Model", bound=nn.Module)


def with_random_weights(model: Model, spread: float) -> Model:
    """Draw all numbers of a model, its biases too, from a normal distribution; return the model."""
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=spread)
    return model
