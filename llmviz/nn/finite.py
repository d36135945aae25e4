"""Whether weights are numbers that a model can compute with.

NaN spreads from one weight to every number of a page. A very large weight does the same a product
later: two numbers above 1e19 have no product in float32.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable

import torch
from torch import Tensor

# No layer of a model overflows in float32 with weights up to here. Counts are float64 and may be
# larger; weights of trained models are below 100.
LARGEST = 1e5


def wrong_tensor(tensors: Iterable[tuple[str, Tensor]], most: float = LARGEST) -> str:
    """The first tensor that holds NaN, infinity or more than `most`, in words; "" without any.

    Tensors of whole numbers are passed over.
    """
    for name, tensor in tensors:
        if tensor.is_floating_point() and (wrong := _wrong(tensor.detach(), most)):
            return f"{name} holds {wrong}"
    return ""


def _wrong(values: Tensor, most: float) -> str:
    if not values.numel():
        return ""
    low, high = (float(bound) for bound in torch.aminmax(values))  # both are NaN where one value is
    if max(-low, high) <= (sys.float_info.max if values.dtype == torch.float64 else most):
        return ""
    whole = values.isfinite()
    if whole.all():
        return f"{max(-low, high):.1e}, and weights may be at most {most:,.0f}"
    kind = "NaN" if values.isnan().any() else "infinity"
    return f"{kind}: {int((~whole).sum()):,} of its {values.numel():,} values are not finite"
