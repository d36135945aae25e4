"""Published shapes as the controls of the chapter, and what one takes to run and to train."""

from __future__ import annotations

from typing import Any

from llmviz.models.costs import BYTES, PRESETS, cache_bytes, training_memory, weight_bytes
from llmviz.models.settings import GPTConfig

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
    config = GPTConfig.from_dict(PRESETS[shape])
    flags = {"tied": config.tied_head, "qkvbias": config.qkv_bias, "bias": config.bias}
    return {name: getattr(config, field) or 0 for name, field in FIELDS.items()} | flags


def shape_costs(config: GPTConfig, batch: int, stored: str) -> dict[str, float]:
    """Return the bytes that a shape takes to run and to train, by what takes them."""
    tokens = batch * config.context_length
    return {
        **{name: weight_bytes(config, name) for name in BYTES},
        "cache": cache_bytes(config, config.context_length, stored),
        "train16": training_memory(config, tokens, "bfloat16").total,
        "train32": training_memory(config, tokens).total,
    }
