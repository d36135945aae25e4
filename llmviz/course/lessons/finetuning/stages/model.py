"""What a way of training does to each layer's numbers: frozen, trained on, or begun anew."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import nn

    from llmviz.models import GPT
    from llmviz.nn.lora_config import LoraConfig

FROZEN, TRAINED, NEW = "frozen", "trained", "new"
STATES = (FROZEN, TRAINED, NEW)
"""Stays as it is; begins at the trained value and changes; begins without a trained value."""


@dataclass(frozen=True)
class Part:
    """A layer: where it stands ("blocks.0.attn.qkv"), how many numbers it has, and its state."""

    path: str
    count: int
    state: str


def parts_of(base: GPT, classes: int, way: str, lora: LoraConfig | None = None) -> tuple[Part, ...]:
    """Return the layers of a classifier on `base`, as `way` says, in their order.

    classes: how many its head has. lora: the adapter's settings, for the way "lora". What is
    trained and what is not is read from the module that training gets; what is new is what does
    not begin with the base's numbers. Raises ValueError as `classifier`.
    """
    from llmviz.finetuning.classifier import classifier

    model = classifier(base, classes, way, lora=lora)
    known = dict(base.named_parameters())
    counts: dict[tuple[str, str], int] = {}
    for name, parameter in model.named_parameters():
        plain = name.removeprefix("body.").replace(".base.", ".")
        layer = plain.rpartition(".")[0]
        state = _state(name, plain, parameter, known)
        counts[layer, state] = counts.get((layer, state), 0) + parameter.numel()
    return tuple(Part(layer, count, state) for (layer, state), count in counts.items())


def _state(name: str, plain: str, parameter: nn.Parameter, known: dict[str, nn.Parameter]) -> str:
    if not parameter.requires_grad:
        return FROZEN
    was = known.get(plain) if name.startswith("body.") else None
    return TRAINED if was is not None and was.equal(parameter) else NEW


def count_of(parts: tuple[Part, ...], *states: str) -> int:
    """Return how many numbers are in one of these states, in all of them if none is named."""
    return sum(part.count for part in parts if not states or part.state in states)
