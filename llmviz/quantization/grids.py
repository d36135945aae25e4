"""Weights on a grid: from numbers to codes and back, every step of it.

R rows (outputs) and C columns (inputs) of a matrix; the steps are (1, 1), (R, 1) or (R, G), G
groups in a row.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from llmviz.quantization.scheme import TENSOR, Scheme

_LARGEST_STEP = torch.finfo(torch.float16).max


class Quantized(NamedTuple):
    """Codes and what turns them back into weights: (code − zero point) · step."""

    codes: Tensor  # (R, C) int16
    scale: Tensor  # (1, 1), (R, 1) or (R, G): the steps, float32 that float16 holds exactly
    zero_point: Tensor | None  # as `scale`, int16; None where the grid is symmetric


class QuantizeSteps(NamedTuple):
    """Quantization of a matrix, step by step; (R, C) each but for the first two."""

    scale: Tensor  # the steps, (1, 1), (R, 1) or (R, G)
    zero_point: Tensor | None  # as `scale`; None where the grid is symmetric
    divided: Tensor  # w / scale
    rounded: Tensor  # to the nearest whole number, a half to the even one
    shifted: Tensor  # rounded + zero point
    codes: Tensor  # shifted, cut to the codes that there are; int16
    restored: Tensor  # (codes − zero point) · scale
    error: Tensor  # restored − w


def quantize_steps(w: Tensor, scheme: Scheme) -> QuantizeSteps:
    """Put a matrix w (R, C) on a grid and keep every step.

    The step of a grid is rounded up to float16, as it is stored, so that with clip = 1 no weight
    falls off the grid's end. Where all weights that share a step are 0, it is 1.

    Raises ValueError for what is no matrix of finite numbers, for a group that does not divide a
    row, and for weights too large for a step in float16.

    >>> steps = quantize_steps(torch.tensor([[3.0, -7.0, 0.6]]), Scheme(4, per="channel"))
    >>> steps.scale.item(), steps.codes.tolist(), steps.restored.tolist()
    (1.0, [[3, -7, 1]], [[3.0, -7.0, 1.0]])
    """
    _check(w)
    w = w.detach().float()
    scale, zero = grid(w, scheme)
    each = expand(scale, w.shape)
    divided = w / each
    rounded = divided.round()
    shifted = rounded if zero is None else rounded + expand(zero, w.shape)
    codes = shifted.clamp(scheme.lowest, scheme.highest).to(torch.int16)
    restored = dequantize(Quantized(codes, scale, zero))
    return QuantizeSteps(scale, zero, divided, rounded, shifted, codes, restored, restored.sub(w))


def quantize(w: Tensor, scheme: Scheme) -> Quantized:
    """Put a matrix w (R, C) on a grid. Raises ValueError as `quantize_steps`, which shows how."""
    steps = quantize_steps(w, scheme)
    return Quantized(steps.codes, steps.scale, steps.zero_point)


def dequantize(quantized: Quantized) -> Tensor:
    """Return the weights (R, C) that the codes stand for, float32."""
    codes, scale, zero = quantized
    whole = codes if zero is None else codes - expand(zero, codes.shape)
    return whole * expand(scale, codes.shape)


def grid(w: Tensor, scheme: Scheme) -> tuple[Tensor, Tensor | None]:
    """Return the steps and zero points for a matrix w (R, C); None for a symmetric grid.

    Raises ValueError for a group that does not divide a row, and a step too large for float16.
    """
    shape = scheme.steps(*w.shape)
    blocks = w.reshape(1, 1, -1) if scheme.per == TENSOR else w.reshape(*shape, -1)
    if scheme.symmetric:
        scale = blocks.abs().amax(-1) * scheme.clip / scheme.highest
        return _as_stored(scale), None
    # 0 lies on the grid even where all weights have one sign: its code is the zero point.
    low = blocks.amin(-1).clamp_max(0) * scheme.clip
    high = blocks.amax(-1).clamp_min(0) * scheme.clip
    scale = _as_stored(high / scheme.highest - low / scheme.highest)
    zero = (-low / scale).round().clamp(0, scheme.highest)
    return scale, zero.to(torch.int16)


def expand(each: Tensor, shape: torch.Size) -> Tensor:
    """Return what weights share, (1, 1), (R, 1) or (R, G), for each weight, (R, C)."""
    if each.shape[1] > 1:
        return each.repeat_interleave(shape[1] // each.shape[1], dim=1)
    return each.expand(shape)


def _as_stored(scale: Tensor) -> Tensor:
    """The next number of float16 that is not below; 1 for a step of 0."""
    if scale.max() > _LARGEST_STEP:
        raise ValueError(
            f"a step must be at most {_LARGEST_STEP:,.0f}, the largest float16; "
            f"got {scale.max().item():.3g}"
        )
    stored = scale.half()
    # Bit patterns of positive floats count upwards: the next pattern is the next number.
    above = (stored.view(torch.int16) + 1).view(torch.float16)
    stored = torch.where(stored.float() < scale, above, stored).float()
    return torch.where(scale > 0, stored, 1.0)


def _check(w: Tensor) -> None:
    if w.dim() != 2 or not w.numel():
        raise ValueError(f"weights must be a matrix; got the shape {tuple(w.shape)}")
    if not w.is_floating_point():
        raise ValueError(f"weights must be floating-point numbers; got {str(w.dtype)[6:]}")
    if not torch.isfinite(w).all():
        wrong = "NaN" if torch.isnan(w).any() else "infinity"
        raise ValueError(f"weights must be finite; there is {wrong} among them")
