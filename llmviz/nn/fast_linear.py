"""y = x·Wᵀ + b for one token at a time, with the weights laid out for the processor.

At batch 1 a large layer costs the time to read its weights: fewer bits are faster, and oneDNN's
packed layout reads them faster than the plain product. Its operations are private to torch, so
each packed layer is compared with the plain one when it is made, and a layer that fails stays
plain.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

PRECISIONS = ("float32", "bfloat16", "int8")
# Below this many weights a layer fits the cache, and the call itself is what costs.
PACK_FROM = 200_000
PACK_FROM_FOR_ROWS = 50_000  # for several rows at once, which take longer than the call
FEW = 4  # rows at once where a text is written: guesses that are checked
# The largest difference from the plain layer, as a share of the largest output.
TOLERANCE = {"float32": 1e-4, "bfloat16": 0.03, "int8": 0.1}

Product = Callable[[Tensor], Tensor]


def plain_linear(linear: nn.Linear) -> Product:
    """Return the layer as a function of x (N, in) -> (N, out); later changes of W show in it."""
    weight, bias = linear.weight.detach().t(), linear.bias
    if bias is None:
        return lambda x: torch.mm(x, weight)
    bias = bias.detach()
    return lambda x: torch.addmm(bias, x, weight)


def fast_linear(linear: nn.Linear, precision: str = "float32", rows: int = 1) -> Product:
    """Return the layer as a function of x (N, in) -> (N, out), float32 to float32, packed.

    `precision` is that of the weights. "bfloat16" also rounds x; "int8" keeps a scale for each
    output and quantizes x as it comes. The weights are copied: later changes of W do not show.
    rows: how many x usually has; the layout is chosen for it, and any number is right.
    Where the processor or this torch lacks an operation, or its result is not close to the plain
    layer's, and for small layers and on a GPU, the plain layer is returned.

    Raises: ValueError for an unknown precision.
    """
    if precision not in PRECISIONS:
        raise ValueError(f"precision must be one of {', '.join(PRECISIONS)}; got {precision!r}")
    plain = plain_linear(linear)
    weight = linear.weight.detach()
    pack_from = PACK_FROM if rows == 1 else PACK_FROM_FOR_ROWS
    if weight.numel() < pack_from or weight.device.type != "cpu":
        return plain
    make = _int8 if precision == "int8" else _packed
    bias = None if linear.bias is None else linear.bias.detach()
    try:
        fast = make(weight, bias, getattr(torch, precision), rows)
        close = _agree(plain, fast, weight, TOLERANCE[precision])
    except (AttributeError, RuntimeError):  # NotImplementedError is a RuntimeError
        return plain
    return fast if close else plain


def fast_for_one_or_few(linear: nn.Linear, precision: str = "float32") -> Product:
    """As `fast_linear`, for x of one row or of a few: each takes the way that is faster for it.

    In float32 a layer of middling size is packed for a few rows and stays plain for one; in fewer
    bits one row and several go the same way, so that both are rounded alike.
    """
    if precision != "float32":
        return fast_linear(linear, precision)
    few = fast_linear(linear, precision, FEW)
    if linear.weight.numel() >= PACK_FROM:
        return few
    one = plain_linear(linear)
    return lambda x: one(x) if len(x) == 1 else few(x)


def _packed(weight: Tensor, bias: Tensor | None, dtype: torch.dtype, rows: int) -> Product:
    ops = torch.ops.mkldnn
    multiply = ops._linear_pointwise.default
    packed = ops._reorder_linear_weight(weight.to(dtype).contiguous(), rows)
    if dtype is torch.float32:
        return lambda x: multiply(x, packed, bias, "none", [], "")
    if bias is not None:
        bias = bias.to(dtype)
    return lambda x: multiply(x.to(dtype), packed, bias, "none", [], "").float()


def _int8(weight: Tensor, bias: Tensor | None, dtype: torch.dtype, rows: int) -> Product:
    scales = weight.abs().amax(dim=1).clamp_min(1e-12).double() / 127
    zeros = torch.zeros(len(weight), dtype=torch.int64)
    with warnings.catch_warnings():  # that torch will drop this is why there is a way back
        warnings.filterwarnings("ignore", message="torch.quantize")
        quantized = torch.quantize_per_channel(weight, scales, zeros, 0, torch.qint8)
    packed = torch.ops.quantized.linear_prepack(quantized, bias)
    multiply = torch.ops.quantized.linear_dynamic
    return lambda x: multiply(x, packed)


def _agree(plain: Product, fast: Product, weight: Tensor, tolerance: float) -> bool:
    with torch.inference_mode():
        x = F.layer_norm(torch.sin(torch.arange(weight.shape[1]).float() ** 1.3), weight.shape[1:])
        expected, computed = plain(x[None].to(weight.dtype)), fast(x[None])
        difference = (expected - computed).abs().max()
        return bool(difference <= tolerance * expected.abs().max().clamp_min(1e-6))
