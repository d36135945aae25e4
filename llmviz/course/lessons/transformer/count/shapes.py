"""Shapes of published models, and what a shape comes to, part by part."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from llmviz.models.arithmetic import PRESET_NAMES as SHAPE_NAMES
from llmviz.models.arithmetic import PRESET_SOURCES as SHAPE_SOURCES
from llmviz.models.arithmetic import PRESETS as SHAPES
from llmviz.models.arithmetic import different_tensors
from llmviz.models.settings import GPTConfig

__all__ = [
    "FIELDS",
    "SHAPES",
    "SHAPE_NAMES",
    "SHAPE_SOURCES",
    "TensorRow",
    "config_of",
    "settings_of",
    "tensor_rows",
]

# The control's name -> the setting's; 0 in a control leaves the setting to its usual value.
FIELDS = {
    "layers": "n_layer",
    "heads": "n_head",
    "kv": "n_kv_head",
    "width": "n_embd",
    "hidden": "hidden_size",
    "vocab": "vocab_size",
    "context": "context_length",
    "positions": "positions",
    "norm": "norm_kind",
    "activation": "activation",
    "experts": "n_expert",
    "tied": "tied_head",
    "qkvbias": "qkv_bias",
    "bias": "bias",
}


def config_of(values: dict[str, Any]) -> GPTConfig:
    """Return the settings that controls stand for. Raises ValueError naming the rule they break."""
    chosen = {FIELDS[name]: value for name, value in values.items()}
    for name in ("n_kv_head", "hidden_size"):
        chosen[name] = chosen[name] or None
    return GPTConfig.from_dict(chosen)


def settings_of(shape: str) -> dict[str, Any]:
    """Return the values of all controls for a published shape."""
    config = GPTConfig.from_dict(SHAPES[shape])
    return {name: getattr(config, field) or 0 for name, field in FIELDS.items()} | {
        "tied": config.tied_head,
        "qkvbias": config.qkv_bias,
        "bias": config.bias,
    }


@dataclass(frozen=True)
class TensorRow:
    """Learned tensors that are alike in every layer."""

    name: str  # with N in the place of a layer's number
    part: str
    shape: tuple[int, ...]
    times: int  # in how many layers
    count: int  # numbers in all of them


def tensor_rows(config: GPTConfig) -> list[TensorRow]:
    """Return every learned tensor, those of the layers once."""
    return [
        TensorRow(tensor.name, tensor.part, tensor.shape, times, times * tensor.count)
        for tensor, times in different_tensors(config)
    ]
