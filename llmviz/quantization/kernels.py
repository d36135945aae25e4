"""Products with quantized matrices where torch has a kernel for the processor, and where not.

torch multiplies with int8 codes, a scale for each row, and with int4 codes, a scale for each group
of a row. It has none for other numbers of bits: such a model takes fewer bytes, and computes in
float32.
"""

from __future__ import annotations

import torch

from llmviz.nn.fast_linear import Product, int4_multiply, int8_multiply
from llmviz.quantization.grids import Quantized, dequantize
from llmviz.quantization.scheme import CHANNEL, Scheme

INT4_MIDDLE = 8  # of torch's int4 codes, which are from 0 to 15
INT4_GROUPS = (32, 64, 128, 256)  # weights in a group that the kernel takes


def has_int4() -> bool:
    """Whether this torch can multiply with int4 codes on the processor."""
    return hasattr(torch.ops.aten, "_weight_int4pack_mm_for_cpu")


def int8_product(quantized: Quantized, scheme: Scheme) -> Product:
    """Return x (N, in) -> (N, out) for symmetric codes of 8 bits, one step for each row.

    x is rounded as `int8_multiply` says. Raises ValueError for another scheme.
    """
    if (scheme.bits, scheme.symmetric, scheme.per) != (8, True, CHANNEL):
        raise ValueError("torch's int8 kernel takes symmetric codes of 8 bits, a step for each row")
    return int8_multiply(dequantize(quantized), quantized.scale[:, 0].double())


def int4_product(quantized: Quantized, scheme: Scheme) -> Product:
    """Return x (N, in) -> (N, out) for codes of 4 bits, a step for each group of a row.

    x and the steps are rounded to bfloat16. Raises ValueError for another scheme, and where this
    torch has no such kernel.
    """
    rows, columns = quantized.codes.shape
    group = scheme.group_size(columns)
    if scheme.bits != 4 or group not in INT4_GROUPS or quantized.scale.shape[0] != rows:
        raise ValueError(
            f"torch's int4 kernel takes 4 bits and groups of {', '.join(map(str, INT4_GROUPS))}; "
            f"got {scheme.bits} bits and a group of {group}"
        )
    if not has_int4():
        raise ValueError("this torch has no int4 kernel for the processor")
    # The kernel computes (code − 8) · scale + shift.
    low = INT4_MIDDLE if scheme.symmetric else 0
    zero = 0 if scheme.symmetric or quantized.zero_point is None else quantized.zero_point
    codes = (quantized.codes + low).to(torch.int32)
    shift = (INT4_MIDDLE - low - zero) * quantized.scale
    return int4_multiply(codes, quantized.scale, shift.expand_as(quantized.scale), group)
