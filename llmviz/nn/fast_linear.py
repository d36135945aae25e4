"""y = x·Wᵀ + b with the weights laid out for the processor, for one token or for many.

At batch 1 a large layer costs the time to read its weights: fewer bits are faster, and oneDNN's
packed layout reads them faster than the plain product. For many rows, on processors where the
plain product leaves half of the arithmetic unused, oneDNN's takes half of the time. Its operations
are private to torch, so each packed layer is compared with the plain one when it is made, and a
layer that fails stays plain.
"""

from __future__ import annotations

import copy
import logging
import warnings
from collections.abc import Callable
from functools import cache, lru_cache
from typing import Any, TypeVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

_log = logging.getLogger(__name__)
PRECISIONS = ("float32", "bfloat16", "int8", "int4")
# Below this many weights a layer fits the cache, and the call itself is what costs.
PACK_FROM = 200_000
PACK_FROM_FOR_ROWS = 50_000  # for several rows at once, which take longer than the call
PACK_FROM_FOR_MANY_ROWS = 30_000
MANY_ROWS = 256  # from here on, laying out W costs less than it saves in a single product
FEW = 4  # rows at once where a text is written: guesses that are checked
# The largest difference from the plain layer, as a share of the largest output.
TOLERANCE = {"float32": 1e-4, "bfloat16": 0.03, "int8": 0.1, "int4": 0.3}
INT4_GROUP = 32  # weights of a row that share a step in int4
INT4_OUTPUTS = 16

Model = TypeVar("Model", bound=nn.Module)
Product = Callable[[Tensor], Tensor]


def plain_linear(linear: nn.Linear) -> Product:
    """Return the layer as a function of x (N, in) -> (N, out); later changes of W show in it."""
    weight, bias = linear.weight.detach().t(), linear.bias
    if bias is None:
        return lambda x: torch.mm(x, weight)
    added = bias.detach()
    return lambda x: torch.addmm(added, x, weight)


def fast_linear(linear: nn.Linear, precision: str = "float32", rows: int = 1) -> Product:
    """Return the layer as a function of x (N, in) -> (N, out), float32 to float32, packed.

    `precision` is that of the weights. "bfloat16" also rounds x; "int8" keeps a scale for each
    output and quantizes x as it comes; "int4" keeps a scale for each 32 weights of a row and rounds
    x to bfloat16. The weights are copied: later changes of W do not show.
    rows: how many x usually has; the layout is chosen for it, and any number is right.
    The plain layer is returned for small layers and on a GPU, and where the processor or this torch
    lacks an operation, or its result is not close to the plain layer's; of fewer bits the log says
    so.

    Raises: ValueError for an unknown precision.
    """
    if precision not in PRECISIONS:
        raise ValueError(f"precision must be one of {', '.join(PRECISIONS)}; got {precision!r}")
    plain = plain_linear(linear)
    weight = linear.weight.detach()
    if weight.numel() < _pack_from(rows) or weight.device.type != "cpu":
        return plain
    make = {"int8": _int8, "int4": _int4}.get(precision, _packed)
    bias = None if linear.bias is None else linear.bias.detach()
    try:
        fast = make(weight, bias, getattr(torch, precision, torch.bfloat16), rows)
        if _agree(plain, fast, weight, TOLERANCE[precision]):
            return fast
        why = "its result is not close to the plain one's"
    except (AttributeError, RuntimeError) as error:  # NotImplementedError is a RuntimeError
        why = str(error).splitlines()[0] if str(error) else type(error).__name__
    if precision != "float32":  # which costs time and no digit
        _tell_plain(precision, *weight.shape, why)
    return plain


@lru_cache(100)
def _tell_plain(precision: str, outputs: int, inputs: int, why: str) -> None:
    """Say once of layers of one size that they are computed with plain float32, and why."""
    _log.warning(
        "a layer of %d × %d is computed in float32 and not by the product for %s: %s",
        *(outputs, inputs, precision, why),
    )


def _pack_from(rows: int) -> int:
    """The fewest weights of a layer that is packed for so many rows."""
    if rows >= MANY_ROWS:
        return PACK_FROM_FOR_MANY_ROWS
    return PACK_FROM if rows == 1 else PACK_FROM_FOR_ROWS


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
    alone = plain_linear(linear)
    return lambda x: alone(x) if len(x) == 1 else few(x)


def product(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Return x·Wᵀ + b, x (…, in), W (out, in), b (out,), to (…, out), packing W for this once.

    For many rows of x and a W that is another one each time. It equals `F.linear` but for
    rounding, and is that where packing does not pay or cannot be had: few rows, a small W, other
    numbers than float32 on a processor. Autograd does not see it: for the inside of a Function.
    """
    rows = x.numel() // x.shape[-1]
    pays = rows >= MANY_ROWS and weight.numel() >= _pack_from(rows)
    plain = x.dtype is weight.dtype is torch.float32 and x.device.type == "cpu"
    if not (pays and plain) or torch.is_autocast_enabled("cpu") or torch.compiler.is_compiling():
        return F.linear(x, weight, bias)
    if not _many_rows_agree():
        return F.linear(x, weight, bias)
    return _packed(weight, bias, torch.float32, rows)(x.contiguous())


@cache
def _many_rows_agree() -> bool:
    """Whether this torch has the packed product for many rows, and it is close to the plain one."""
    weight = torch.sin(torch.arange(192.0 * 160)).view(192, 160)
    bias, x = weight[:, 0].clone(), torch.cos(torch.arange(300.0 * 160)).view(300, 160)
    with torch.inference_mode():
        try:
            difference = _packed(weight, bias, torch.float32, 300)(x) - F.linear(x, weight, bias)
        except (AttributeError, RuntimeError):
            return False
    return bool(difference.abs().max() <= TOLERANCE["float32"])


class PackedLinear(nn.Module):
    """A layer that is not trained any more, as `fast_linear` lays it out for many rows."""

    def __init__(self, linear: nn.Linear, rows: int):
        super().__init__()
        self._product = fast_linear(linear, rows=rows)

    def forward(self, x: Tensor) -> Tensor:
        """(…, in) to (…, out)."""
        return self._product(x.flatten(0, -2)).unflatten(0, x.shape[:-1])


class FrozenLinear(nn.Linear):
    """A layer that is not trained any more: packed for many rows, with its weights beside it.

    A copy of it is an ordinary layer, whose weights may be changed. Where a gradient is wanted, it
    is computed as one.
    """

    def __init__(self, linear: nn.Linear, rows: int):
        nn.Module.__init__(self)
        self.in_features, self.out_features = linear.in_features, linear.out_features
        self.weight, self.bias = linear.weight, linear.bias
        self._product = fast_linear(linear, rows=rows)

    def forward(self, x: Tensor) -> Tensor:
        """(…, in) to (…, out)."""
        if torch.is_grad_enabled() and (x.requires_grad or self.weight.requires_grad):
            return super().forward(x)
        made = self._product(x.reshape(-1, self.in_features))
        return made.reshape(*x.shape[:-1], self.out_features)

    def __deepcopy__(self, memo: dict[int, Any]) -> nn.Linear:
        plain = nn.Linear(self.in_features, self.out_features, self.bias is not None, device="meta")
        plain.weight = copy.deepcopy(self.weight, memo)
        plain.bias = copy.deepcopy(self.bias, memo)
        memo[id(self)] = plain
        return plain.train(self.training)


def freeze_packed(model: nn.Module, rows: int) -> None:
    """Pack the layers of a frozen model for inputs of about `rows` rows, its weights beside them.

    It takes the memory of the packed weights on top. Nobody may change the weights afterwards, but
    for those of a copy.
    """
    for module in list(model.modules()):
        for name, child in module.named_children():
            if type(child) is nn.Linear and child.weight.numel() >= _pack_from(rows):
                setattr(module, name, FrozenLinear(child, rows))


def packed_for_rows(model: Model, rows: int, *kinds: type[Any]) -> Model:
    """Return the model around the same weights, its layers packed for inputs of about `rows` rows.

    kinds: of layers besides `nn.Linear` that have `weight` and `bias` as it has them. Later
    changes of the weights do not show in the layers that are packed.
    """
    shared = {id(tensor): tensor for tensor in (*model.parameters(), *model.buffers())}
    packed = copy.deepcopy(model, shared)
    _pack_inside(packed, rows, (nn.Linear, *kinds))
    return packed


def _pack_inside(module: nn.Module, rows: int, kinds: tuple[type[Any], ...]) -> None:
    for name, child in module.named_children():
        if isinstance(child, kinds):
            setattr(module, name, PackedLinear(child, rows))
        else:
            _pack_inside(child, rows, kinds)


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
    return int8_multiply(weight, weight.abs().amax(dim=1).clamp_min(1e-12).double() / 127, bias)


def int8_multiply(weight: Tensor, scales: Tensor, bias: Tensor | None = None) -> Product:
    """Return x (N, in) -> (N, out) for W (out, in) rounded to steps of scales (out,), float64.

    x is rounded to 8 bits as it comes, to 7 where the processor cuts sums (`pairs_saturate`).
    Raises AttributeError or RuntimeError where this torch has no such kernel.
    """
    packed, narrow = _packed_int8(weight, scales, bias), pairs_saturate()
    multiply = torch.ops.quantized.linear_dynamic
    return lambda x: multiply(x, packed, narrow)


@cache
def pairs_saturate() -> bool:
    """Whether the processor cuts sums of two int8 products at 2¹⁵, as those without VNNI do.

    It is tried where such sums are largest: 2 · 255 · 127, which with 7 bits is below 2¹⁵.
    """
    x = torch.ones(16, 64)
    packed = _packed_int8(x, torch.full((16,), 1 / 127, dtype=torch.float64), None)
    multiply = torch.ops.quantized.linear_dynamic
    return any(bool((multiply(x[:n], packed, False) - 64).abs().max() > 1) for n in (1, FEW))


def about_int8() -> str:
    """What is to be known of int8 products on this processor, in words; "" where nothing."""
    try:
        narrow = pairs_saturate()
    except (AttributeError, RuntimeError):
        return "this torch has no int8 product for this processor; float32 is used"
    said = "this processor adds int8 products in 16 bits; layers' inputs are rounded to 7 bits"
    return said if narrow else ""


def _packed_int8(weight: Tensor, scales: Tensor, bias: Tensor | None) -> Any:
    zeros = torch.zeros(len(weight), dtype=torch.int64)
    with warnings.catch_warnings():  # that torch will drop this is why there is a way back
        warnings.filterwarnings("ignore", message="torch.quantize")
        quantized = torch.quantize_per_channel(weight, scales, zeros, 0, torch.qint8)
    return torch.ops.quantized.linear_prepack(quantized, bias)


def _int4(weight: Tensor, bias: Tensor | None, dtype: torch.dtype, rows: int) -> Product:
    outputs, inputs = weight.shape
    if inputs % INT4_GROUP:
        raise RuntimeError(f"int4 needs rows of whole groups of {INT4_GROUP}; got {inputs}")
    # The kernel takes a number of outputs that this divides; what is too much is cut off again.
    weight = F.pad(weight, (0, 0, 0, -outputs % INT4_OUTPUTS))
    groups = weight.view(len(weight), -1, INT4_GROUP)
    steps = groups.abs().amax(dim=-1).clamp_min(1e-12) / 7  # (out, groups)
    codes = (groups / steps[..., None]).round().clamp(-8, 7).view_as(weight)
    multiply = int4_multiply(codes.int() + 8, steps, torch.zeros_like(steps), INT4_GROUP)
    if bias is None:
        return lambda x: multiply(x)[:, :outputs]
    added = bias
    return lambda x: multiply(x)[:, :outputs] + added


def int4_multiply(codes: Tensor, steps: Tensor, shifts: Tensor, group: int) -> Product:
    """Return x (N, in) -> (N, out) for W = (code − 8)·step + shift, packed for torch's kernel.

    codes: (out, in), 0 to 15. steps, shifts: (out, groups). x, steps and shifts are rounded to
    bfloat16. Raises AttributeError where this torch has no such kernel, RuntimeError where it does
    not take the shape.
    """
    ops = torch.ops.aten
    pairs = torch.stack([steps, shifts], -1).transpose(0, 1).contiguous().bfloat16()  # (G, out, 2)
    packed = ops._convert_weight_to_int4pack_for_cpu(codes.to(torch.int32), 1)
    multiply = ops._weight_int4pack_mm_for_cpu
    return lambda x: multiply(x.bfloat16(), packed, group, pairs).to(x.dtype)


def _agree(plain: Product, fast: Product, weight: Tensor, tolerance: float) -> bool:
    with torch.inference_mode():
        x = F.layer_norm(torch.sin(torch.arange(weight.shape[1]).float() ** 1.3), weight.shape[1:])
        expected, computed = plain(x[None].to(weight.dtype)), fast(x[None])
        difference = (expected - computed).abs().max()
        return bool(difference <= tolerance * expected.abs().max().clamp_min(1e-6))
