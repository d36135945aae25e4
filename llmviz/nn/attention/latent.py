"""Latent attention: the cache has one narrow vector a token, from which all heads make their own.

The tokens are projected down to a latent vector, and up again to the keys and values of every head.
Only the latent vectors need be kept. Nor need the keys ever be made: the queries can be brought
down to the latent vectors instead, and the weighted latent vectors brought up to values.

(…) any leading shape such as a batch, T new time, P cached tokens, S = P + T source length, C width
of the tokens, L latent size, H heads, D head size, N = H·D.

Reference: DeepSeek-AI 2024, "DeepSeek-V2", section 2.1.2. Deviations: no rotary part, queries are
not compressed, and keys and values have the same size.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from llmviz.nn.attention.heads import merge_heads, split_heads
from llmviz.nn.attention.masks import causal_mask
from llmviz.nn.attention.steps import AttentionSteps, attention


class LatentMatrices(NamedTuple):
    """What latent attention learns; head h has columns h·D to (h+1)·D of the N."""

    q: Tensor  # (C, N)
    down: Tensor  # (C, L)
    up_k: Tensor  # (L, N)
    up_v: Tensor  # (L, N)
    output: Tensor | None = None  # (N, C); None leaves the concatenation as it is


class LatentSteps(NamedTuple):
    """From the tokens and the cache to the output."""

    latent: Tensor  # (…, S, L) the cache, with the new tokens behind
    q: Tensor  # (…, H, T, D); absorbed: (…, H, T, L)
    k: Tensor  # (…, H, S, D); absorbed: the latent vectors, (…, 1, S, L)
    v: Tensor  # (…, H, S, D); absorbed: the latent vectors, (…, 1, S, L)
    attention: AttentionSteps  # (…, H, T, S), and its output as wide as v
    concat: Tensor  # (…, T, N)
    output: Tensor  # (…, T, C) after the output matrix; the concatenation without one


def latent_attention(
    x: Tensor,
    w: LatentMatrices,
    n_head: int,
    cache: Tensor | None = None,
    *,
    absorb: bool = False,
) -> LatentSteps:
    """Causal attention of x (…, T, C) over itself and a cache of latent vectors (…, P, L).

    It equals attention of as many heads with the key matrix down·up_k and the value matrix
    down·up_v. The next call's cache is the `latent` of this one.
    absorb: leave the keys and values unmade; the output is the same up to rounding.
    Raises ValueError for shapes that do not multiply, and for no token.
    """
    _check_shapes(x, w, cache)
    latent = x @ w.down  # (…, T, L)
    if cache is not None:
        latent = torch.cat((cache, latent), dim=-2)  # (…, S, L)
    q = split_heads(x @ w.q, n_head)  # (…, H, T, D)
    scale = q.shape[-1] ** -0.5
    up_k, up_v = split_heads(w.up_k, n_head), split_heads(w.up_v, n_head)  # (H, L, D)
    if absorb:
        q = q @ up_k.mT  # (…, H, T, L)
        k = v = latent.unsqueeze(-3)
    else:
        k, v = latent.unsqueeze(-3) @ up_k, latent.unsqueeze(-3) @ up_v
    mask = causal_mask(latent.shape[-2], x.device)[-x.shape[-2] :]  # (T, S)
    steps = attention(q, k, v, mask, scale)
    concat = merge_heads(steps.output @ up_v if absorb else steps.output)
    output = concat if w.output is None else concat @ w.output
    return LatentSteps(latent, q, k, v, steps, concat, output)


def heads_cache_bytes(
    tokens: int, n_layer: int, n_kv_head: int, head_size: int, bytes_each: int = 4
) -> int:
    """Bytes of the keys and values of all layers, for one text.

    n_kv_head: as many as query heads for multi-head attention, fewer for grouped heads.
    """
    return 2 * tokens * n_layer * n_kv_head * head_size * bytes_each


def latent_cache_bytes(tokens: int, n_layer: int, latent_size: int, bytes_each: int = 4) -> int:
    """Bytes of the latent vectors of all layers, for one text; the number of heads is not in it.

    DeepSeek-V2's for a token, with its 64 rotary numbers, beside 128 heads of keys and values:

    >>> latent_cache_bytes(1, 60, 512 + 64, 2), heads_cache_bytes(1, 60, 128, 128, 2)
    (69120, 3932160)
    """
    return tokens * n_layer * latent_size * bytes_each


def _check_shapes(x: Tensor, w: LatentMatrices, cache: Tensor | None) -> None:
    if x.dim() < 2 or x.shape[-2] < 1:
        raise ValueError(f"tokens must have the shape (…, time, width); got {tuple(x.shape)}")
    latent_size = w.down.shape[-1]
    matrices = (
        ("q", w.q, x.shape[-1], "column of x"),
        ("down", w.down, x.shape[-1], "column of x"),
        ("up_k", w.up_k, latent_size, "latent number"),
        ("up_v", w.up_v, latent_size, "latent number"),
    )
    for name, matrix, rows, what in matrices:
        if matrix.dim() != 2 or len(matrix) != rows:
            raise ValueError(
                f"{name} must have {rows} rows, one for each {what}; got {tuple(matrix.shape)}"
            )
    columns = w.q.shape[1], w.up_k.shape[1], w.up_v.shape[1]
    if len(set(columns)) > 1:
        raise ValueError(f"q, up_k and up_v must have as many columns; got {columns}")
    if cache is not None and (*cache.shape[:-2], cache.shape[-1]) != (*x.shape[:-2], latent_size):
        raise ValueError(
            f"the cache must have the shape {(*x.shape[:-2], 'tokens', latent_size)}; "
            f"got {tuple(cache.shape)}"
        )
