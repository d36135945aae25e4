"""The parts of a GPT's layers, each in the form in which a decoder reads it; and its positions."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from torch import Tensor, nn

if TYPE_CHECKING:
    from llmviz.models.gpt import GPT

Part = TypeVar("Part")


class LayerParts(NamedTuple, Generic[Part]):
    """The parts of one layer, in the order in which a token passes them. up: None for no gate."""

    norm1: Part
    qkv: Part
    projection: Part
    norm2: Part
    hidden: Part
    up: Part | None
    output: Part


def layer_parts(
    model: GPT, norm: Callable[[nn.Module], Part], linear: Callable[[nn.Linear], Part]
) -> list[LayerParts[Part]]:
    """Return the parts of all layers; norm, linear: make the form that is wanted of a module."""
    layers = []
    for block in model.blocks:
        attn, mlp = block.attn, block.feed_forward
        parts = LayerParts(
            norm(block.norm1),
            linear(attn.qkv),
            linear(attn.projection),
            norm(block.norm2),
            linear(mlp.hidden),
            None if mlp.up is None else linear(mlp.up),
            linear(mlp.output),
        )
        layers.append(parts)
    return layers


def position_table(model: GPT) -> Tensor | None:
    """Return what is added for each position (context_length, C), or None; not a copy."""
    if model.config.positions == "sinusoidal":
        return model.waves
    return None if model.position is None else model.position.weight.detach()
