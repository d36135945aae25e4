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
FLOATS = (torch.float64, torch.float32, torch.float16, torch.bfloat16)


def wrong_tensor(tensors: Iterable[tuple[str, Tensor]], most: float = LARGEST) -> str:
    """The first tensor that holds NaN, infinity or more than `most`, in words; "" without any.

    A tensor of complex numbers or of floats besides `FLOATS` is wrong, too. Tensors of whole
    numbers are passed over.
    """
    for name, tensor in tensors:
        fractions = tensor.is_floating_point() or tensor.is_complex()
        if fractions and (wrong := wrong_type(name, tensor)):
            return wrong
        if tensor.is_floating_point() and (wrong := _wrong(tensor.detach(), most)):
            return f"{name} holds {wrong}"
    return ""


def wrong_type(name: str, tensor: Tensor) -> str:
    """Why a tensor's type is none for weights, in words; "" where it is."""
    if tensor.dtype in FLOATS:
        return ""
    known = ", ".join(str(kind)[6:] for kind in FLOATS)
    return f"{name} holds numbers of type {str(tensor.dtype)[6:]}; weights must be of {known}"


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
