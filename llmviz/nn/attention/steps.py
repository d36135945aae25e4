"""Scaled dot-product attention, as one function that returns every step.

(…) any leading shape such as batch and heads, T time (tokens that ask), S source length (tokens
asked), D head size. Heads are already split: `llmviz.nn.attention.heads` does that.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

# Contexts up to which, on a CPU, the explicit steps outrun the fused kernel in half precision.
EXPLICIT_ON_CPU_UP_TO = 1024
IN_CACHE = 2**20  # weights that are worked on at once where nothing is learned
STRIP = 128  # rows that are worked on at once where the mask is causal

# Ways to take the softmax before the mask, all of them mistakes (see `attention`).
SOFTMAX_BEFORE_MASK = ("softmax_again", "leave", "renormalise")


class AttentionSteps(NamedTuple):
    """Every matrix on the way from queries, keys and values to the output."""

    scores: Tensor  # (…, T, S) q·kᵀ
    scaled: Tensor  # (…, T, S) scores times the scale
    masked: Tensor  # (…, T, S) −∞ where the mask forbids to look
    weights: Tensor  # (…, T, S) softmax of each row
    dropped: Tensor  # (…, T, S) weights after dropout; the weights themselves without it
    output: Tensor  # (…, T, D) weighted sum of the values


def attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    mask: Tensor | None = None,
    scale: float | None = None,
    dropout: float = 0.0,
    generator: torch.Generator | None = None,
    softmax_before_mask: str | None = None,
) -> AttentionSteps:
    """Attention of queries (…, T, D) over keys and values (…, S, D), with all its steps.

    mask: boolean, broadcastable to (…, T, S), True where a row may look. A row that may look at
      nothing comes out as NaN; `refuse_fully_masked_rows` names it.
    scale: what the scores are multiplied by; None is 1/√D. The mistakes of the lesson are 1.0
      (no scaling) and 1/√C with C the full width (√d_model instead of √d_head).
    dropout: probability that a weight is set to 0; the survivors grow by 1/(1 − dropout).
    generator: source of the dropout's random numbers; None takes torch's global one.
    softmax_before_mask: the mistake of taking the softmax first, in one of `SOFTMAX_BEFORE_MASK`.
      "softmax_again" masks the probabilities with −∞ and takes a second softmax: the future has
      leaked into the first denominator. "leave" zeroes the future and leaves rows that sum to less
      than 1. "renormalise" divides each row by its new sum: the common denominator cancels, and
      the weights equal the right ones up to rounding. `masked` holds the masked probabilities.

    Reference: Vaswani et al. 2017, "Attention Is All You Need", eq. 1. Deviation: boolean masks,
    and dropout on the weights.

    >>> x = torch.tensor([[1.0, 0.0], [0.0, 1.0]])
    >>> attention(x, x, x, scale=1.0).weights
    tensor([[0.7311, 0.2689],
            [0.2689, 0.7311]])
    """
    scores = q @ k.transpose(-2, -1)  # (…, T, S)
    scaled = scores * (1 / math.sqrt(q.shape[-1]) if scale is None else scale)
    if softmax_before_mask is None:
        masked = scaled if mask is None else scaled.masked_fill(~mask, -math.inf)
        weights = masked.softmax(dim=-1)
    else:
        masked, weights = _softmax_then_mask(scaled, mask, softmax_before_mask)
    weights = weights.to(v.dtype)  # under autocast the softmax is float32
    dropped = _dropout(weights, dropout, generator)
    return AttentionSteps(scores, scaled, masked, weights, dropped, dropped @ v)  # (…, T, D)


def fast_attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    mask: Tensor | None = None,
    scale: float | None = None,
    dropout: float = 0.0,
    *,
    causal: bool = False,
) -> Tensor:
    """Only the output of `attention`, (…, T, D), by the faster path for the shape and device.

    causal: says that `mask` is the causal one, so that the fused kernel can skip half the work.
    `explicit_is_faster` decides; the other path is torch's fused kernel.
    """
    if explicit_is_faster(q, k, dropout):
        return weights_and_output(q, k, v, mask, scale, dropout)[1]
    if causal:
        return F.scaled_dot_product_attention(
            q, k, v, dropout_p=dropout, is_causal=True, scale=scale
        )
    return F.scaled_dot_product_attention(q, k, v, mask, dropout, scale=scale)


def explicit_is_faster(q: Tensor, k: Tensor, dropout: float) -> bool:
    """Whether the explicit steps outrun the fused kernel (benchmarks/attention.py).

    On a CPU the fused kernel loses a factor of 2 to 5 in half precision, and has no dropout.
    """
    if q.device.type != "cpu" or k.shape[-2] > EXPLICIT_ON_CPU_UP_TO:
        return False
    return dropout > 0 or q.dtype in (torch.bfloat16, torch.float16)


def weights_and_output(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    mask: Tensor | None = None,
    scale: float | None = None,
    dropout: float = 0.0,
    keep: torch.dtype | None = None,
    *,
    causal: bool = False,
) -> tuple[Tensor, Tensor]:
    """Weights (…, T, S) and output (…, T, D) of `attention`, without keeping what comes before.

    The product, the scale and the mask are one operation. keep: the dtype to hand the weights back
    in where nothing is learned; the output comes from the full ones all the same. causal: says that
    `mask` is the causal one, (T, T), so that nothing need be computed of what it hides.
    """
    t, s, d = q.shape[-2], k.shape[-2], q.shape[-1]
    lead = q.shape[:-2]
    if k.shape[:-2] != lead:
        lead = torch.broadcast_shapes(lead, k.shape[:-2])
    if mask is None:
        bias = q.new_zeros(1, 1, 1)
    else:
        bias = torch.where(mask, 0.0, -math.inf).to(q.dtype)  # added to the scores
        if bias.dim() > 2:
            bias = bias.expand(*lead, t, s).reshape(-1, t, s)
    keys = k.expand(*lead, s, d).reshape(-1, s, d).transpose(1, 2)
    queries = q.expand(*lead, t, d).reshape(-1, t, d)
    values = v.expand(*lead, s, -1).reshape(-1, s, v.shape[-1])
    alpha = 1 / math.sqrt(d) if scale is None else scale
    learning = torch.is_grad_enabled() or torch.is_autocast_enabled(q.device.type)
    if learning or dropout or q.device.type != "cpu" or q.dtype != v.dtype:
        weights = torch.baddbmm(bias, queries, keys, alpha=alpha).softmax(dim=-1).to(v.dtype)
        output = _dropout(weights, dropout, None) @ values
    else:
        pieces = (queries, keys, values, alpha, keep or v.dtype, causal)
        weights, output = _piece_by_piece(bias, *pieces)
    return weights.view(*lead, t, s), output.view(*lead, t, -1)


def _piece_by_piece(
    bias: Tensor,
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
    alpha: float,
    keep: torch.dtype,
    causal: bool,
) -> tuple[Tensor, Tensor]:
    """Weights (N, T, S) and output (N, T, D), a few heads at a time in one place of memory.

    All heads' scores at once would leave the processor's cache between one operation and the next.
    causal: a strip of rows looks at no column behind its last row.
    """
    n, t, s = len(queries), queries.shape[1], keys.shape[2]
    height = min(t, STRIP) if causal else t
    weights = queries.new_empty(n, t, s, dtype=keep)
    output = values.new_empty(n, t, values.shape[-1])
    place = queries.new_empty(min(n * height * s, max(IN_CACHE, height * s)))
    for start in range(0, t, height):
        rows = slice(start, min(t, start + height))
        seen = rows.stop if causal else s
        weights[:, rows, seen:] = 0
        cells = (rows.stop - start) * seen
        step = max(1, IN_CACHE // cells)
        for first in range(0, n, step):
            now = slice(first, min(n, first + step))
            part = place[: (now.stop - first) * cells].view(-1, rows.stop - start, seen)
            own = bias[now] if bias.dim() == 3 and len(bias) > 1 else bias
            product = queries[now, rows], keys[now, :, :seen]
            torch.baddbmm(own[..., rows, :seen], *product, alpha=alpha, out=part)
            torch.softmax(part, dim=-1, out=part)
            output[now, rows] = part @ values[now, :seen]
            weights[now, rows, :seen] = part
    return weights, output


def _softmax_then_mask(scaled: Tensor, mask: Tensor | None, how: str) -> tuple[Tensor, Tensor]:
    if how not in SOFTMAX_BEFORE_MASK:
        choices = ", ".join(SOFTMAX_BEFORE_MASK)
        raise ValueError(f"softmax_before_mask must be None or one of {choices}; got {how!r}")
    weights = scaled.softmax(dim=-1)
    forbidden = torch.zeros_like(weights, dtype=torch.bool) if mask is None else ~mask
    if how == "softmax_again":
        masked = weights.masked_fill(forbidden, -math.inf)
        return masked, masked.softmax(dim=-1)
    masked = weights.masked_fill(forbidden, 0.0)
    return masked, masked if how == "leave" else masked / masked.sum(dim=-1, keepdim=True)


def _dropout(weights: Tensor, p: float, generator: torch.Generator | None) -> Tensor:
    if p == 0:
        return weights
    if generator is None:
        return F.dropout(weights, p)
    return weights * dropout_mask(weights.shape, p, generator, weights.device) / (1 - p)


def dropout_mask(
    shape: Sequence[int],
    p: float,
    generator: torch.Generator,
    device: torch.device | str = "cpu",
) -> Tensor:
    """Draw which weights `attention` keeps: boolean of a shape, each True with probability 1 − p.

    A generator in the same state draws the same ones.
    """
    return torch.rand(tuple(shape), generator=generator, device=device) >= p
