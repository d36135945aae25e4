"""Four variants from the simplest self-attention to the one that models use.

Each variant is a pure function of the tokens X and the matrices, returns every matrix, and
equals the variant below where its new idea is switched off:

1. `simplified`: tokens ask and answer as they are; no matrix is learned.
2. `single_head`: learned queries, keys and values. With W_Q = W_K = W_V = 1 and no scale it is 1.
3. `causal_head`: 2 under a mask. Its last row is row T of 2.
4. `multi_head`: 3 several times on slices of the matrices. With one head and no output
   matrix it is 3.

T time, C width of the tokens, D head size, H heads, N = H·D.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from llmviz.nn.attention.heads import merge_heads, split_heads
from llmviz.nn.attention.masks import causal_mask, refuse_fully_masked_rows
from llmviz.nn.attention.steps import AttentionSteps, attention


class HeadSteps(NamedTuple):
    """One head, or several side by side: how X becomes context vectors."""

    q: Tensor  # (…, T, D)
    k: Tensor  # (…, T, D)
    v: Tensor  # (…, T, D)
    attention: AttentionSteps  # (…, T, T), and its output (…, T, D)

    @property
    def output(self) -> Tensor:
        """The context vectors, (…, T, D)."""
        return self.attention.output


class MultiHeadSteps(NamedTuple):
    """Several heads: split, attend, put side by side, project."""

    q: Tensor  # (H, T, D)
    k: Tensor  # (H, T, D)
    v: Tensor  # (H, T, D)
    attention: AttentionSteps  # (H, T, T), and its output (H, T, D)
    concat: Tensor  # (T, N)
    output: Tensor  # (T, C) after the output matrix; the concatenation without one


def simplified(x: Tensor) -> AttentionSteps:
    """Every token asks every token by dot product: softmax(X·Xᵀ)·X, nothing learned.

    x: (T, C). Neither scaled nor masked.
    """
    return attention(x, x, x, scale=1.0)


def single_head(
    x: Tensor,
    w_q: Tensor,
    w_k: Tensor,
    w_v: Tensor,
    mask: Tensor | None = None,
    scale: float | None = None,
    dropout: float = 0.0,
    generator: torch.Generator | None = None,
    softmax_before_mask: str | None = None,
) -> HeadSteps:
    """One head with learned matrices: x (T, C), each matrix (C, D).

    mask, scale, dropout, generator, softmax_before_mask: as in `attention`. Raises ValueError for
    shapes that do not multiply and for a row of the mask that may look at nothing.
    """
    _check_shapes(x, w_q, w_k, w_v)
    if mask is not None:
        refuse_fully_masked_rows(mask)
    q, k, v = x @ w_q, x @ w_k, x @ w_v
    steps = attention(q, k, v, mask, scale, dropout, generator, softmax_before_mask)
    return HeadSteps(q, k, v, steps)


def causal_head(
    x: Tensor,
    w_q: Tensor,
    w_k: Tensor,
    w_v: Tensor,
    dropout: float = 0.0,
    generator: torch.Generator | None = None,
) -> HeadSteps:
    """`single_head` in which no token sees those after it."""
    mask = causal_mask(len(x), x.device)
    return single_head(x, w_q, w_k, w_v, mask, dropout=dropout, generator=generator)


def multi_head(
    x: Tensor,
    w_q: Tensor,
    w_k: Tensor,
    w_v: Tensor,
    n_head: int,
    w_o: Tensor | None = None,
    mask: Tensor | None = None,
    scale: float | None = None,
    dropout: float = 0.0,
    generator: torch.Generator | None = None,
    softmax_before_mask: str | None = None,
    off: frozenset[int] | set[int] = frozenset(),
) -> MultiHeadSteps:
    """H heads, each with its columns of the matrices (C, N): head h has columns h·D to (h+1)·D.

    w_o: output matrix (N, C); None leaves the concatenation as it is.
    off: heads whose output is zero. The rest as in `single_head`.
    """
    _check_shapes(x, w_q, w_k, w_v)
    if mask is not None:
        refuse_fully_masked_rows(mask)
    q, k, v = (split_heads(x @ w, n_head) for w in (w_q, w_k, w_v))  # each (H, T, D)
    steps = attention(q, k, v, mask, scale, dropout, generator, softmax_before_mask)
    if off:
        if not set(off) <= set(range(n_head)):
            raise ValueError(f"heads are numbered 0 to {n_head - 1}; got {sorted(off)}")
        silenced = steps.output.clone()
        silenced[sorted(off)] = 0.0
        steps = steps._replace(output=silenced)
    concat = merge_heads(steps.output)  # (T, N)
    return MultiHeadSteps(q, k, v, steps, concat, concat if w_o is None else concat @ w_o)


def _check_shapes(x: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor) -> None:
    if x.dim() != 2 or len(x) < 1:
        raise ValueError(f"tokens must have the shape (time, width); got {tuple(x.shape)}")
    for name, w in (("W_Q", w_q), ("W_K", w_k), ("W_V", w_v)):
        if w.dim() != 2 or w.shape[0] != x.shape[1]:
            raise ValueError(
                f"{name} must have {x.shape[1]} rows, one for each column of X; "
                f"got shape {tuple(w.shape)}"
            )
    if w_q.shape[1] != w_k.shape[1]:
        raise ValueError(
            f"W_Q and W_K must have the same number of columns; "
            f"got {w_q.shape[1]} and {w_k.shape[1]}"
        )
