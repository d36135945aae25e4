"""Weights that lie in memory in fewer bits and are float32 wherever they are read."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.utils import parametrize

STORED = {"float32": torch.float32, "bfloat16": torch.bfloat16}


class _Float32(nn.Module):
    """What a stored matrix is read through."""

    def forward(self, stored: Tensor) -> Tensor:
        return stored.float()


def store_weights(model: nn.Module, precision: str) -> None:
    """Keep the matrices of a frozen model in a type of fewer bits; all is computed in float32.

    Numbers are rounded once. bfloat16 takes half of the memory, and each reading of a matrix the
    time of widening it. Raises ValueError for another precision than those of STORED.
    """
    if precision not in STORED:
        raise ValueError(f"precision must be one of {', '.join(STORED)}; got {precision!r}")
    if STORED[precision] is torch.float32:
        return
    for module in list(model.modules()):
        if isinstance(module, nn.Linear | nn.Embedding):
            module.weight.data = module.weight.data.to(STORED[precision])
            parametrize.register_parametrization(module, "weight", _Float32(), unsafe=True)
