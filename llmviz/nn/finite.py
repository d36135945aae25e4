"""Whether a model's weights are numbers that it can compute with."""

from __future__ import annotations

import torch
from torch import nn


def broken_weight(model: nn.Module) -> str | None:
    """Return the name of the first parameter or buffer with a NaN or infinite value, if any.

    A mask of −∞ is none of them: masks are not stored with a model's weights.
    """
    for name, tensor in model.state_dict().items():
        if tensor.is_floating_point() and not torch.isfinite(tensor).all():
            return name
    return None
