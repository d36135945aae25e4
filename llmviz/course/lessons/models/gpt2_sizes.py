"""GPT-2's published sizes, counted on models that have shapes and no numbers."""

from __future__ import annotations

from typing import NamedTuple

from llmviz.models.costs import BYTES, PRESETS

NAMES = tuple(name for name in PRESETS if name.startswith("GPT-2"))


class SizeRow(NamedTuple):
    """A published size: its shape, its parameters, bytes of its weights by how they are stored."""

    name: str
    layers: int
    heads: int
    width: int
    parameters: int
    weights: dict[str, int]


def gpt2_sizes() -> list[SizeRow]:
    """Return GPT-2's sizes, each counted on a model on torch's meta device."""
    from llmviz.models import build, count_parameters
    from llmviz.nn.outline import outlined

    rows = []
    for name in NAMES:
        with outlined():
            model = build("gpt", PRESETS[name])
        count, config = count_parameters(model), model.config
        weights = {kind: int(BYTES[kind] * count) for kind in BYTES}
        rows.append(SizeRow(name, config.n_layer, config.n_head, config.n_embd, count, weights))
    return rows
