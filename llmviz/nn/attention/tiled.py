"""Attention tile by tile: no matrix of all weights is ever there, only a tile of it.

(…) any leading shape such as batch and heads, T time (tokens that ask), S source length (tokens
asked), D head size, R rows and C columns of a tile (those at the ends may be smaller).

A row's softmax needs its largest score and the sum of its exponentials. Both can be kept as
running values: where a tile brings a larger score, what was summed before is multiplied by
e^(old maximum − new maximum), which is what it would have been with the new maximum.

Reference: Milakov and Gimelshein 2018, "Online normalizer calculation for softmax", algorithm 3;
Dao et al. 2022, "FlashAttention", algorithm 1. Deviation: rows are outside and columns inside, and
the output is divided by the sum at the end, as in Dao 2023, "FlashAttention-2", algorithm 1.
"""

import math
from collections.abc import Callable, Iterator
from typing import NamedTuple

import torch
from torch import Tensor

from llmviz.nn.attention.masks import causal_mask, refuse_fully_masked_rows
from llmviz.nn.attention.traffic import Traffic, require_square


class TileStep(NamedTuple):
    """One tile: what it holds, and what its rows know after it.

    Sums are at least float32, also where queries, keys and values have fewer bits.
    """

    rows: slice  # of the queries
    columns: slice  # of the keys
    scores: Tensor  # (…, R, C) scaled, −∞ where the mask forbids to look
    maximum_before: Tensor  # (…, R) largest score in the tiles before; −∞ in the first one
    maximum: Tensor  # (…, R) with this tile
    rescale: Tensor  # (…, R) e^(maximum_before − maximum): what the sums before are multiplied by
    exponentials: Tensor  # (…, R, C) e^(scores − maximum)
    total_before: Tensor  # (…, R) sum of the exponentials in the tiles before
    total: Tensor  # (…, R) total_before · rescale + the sum of the exponentials
    weighted: Tensor  # (…, R, D) sum of the values, each times its exponential
    last: bool  # the last tile of these rows
    traffic: Traffic  # for one head: what this tile reads from slow memory and writes to it

    @property
    def output(self) -> Tensor:
        """The output so far, (…, R, D): attention over the columns that were seen.

        NaN in a row that may look at none of them yet.
        """
        return self.weighted / self.total[..., None]


def tile_steps(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    rows: int,
    columns: int,
    mask: Tensor | None = None,
    scale: float | None = None,
    *,
    causal: bool = False,
) -> Iterator[TileStep]:
    """Yield attention of queries (…, T, D) over keys and values (…, S, D), tile by tile.

    rows, columns: R and C. mask: boolean, broadcastable to (…, T, S), True where a row may look.
    scale: what the scores are multiplied by; None is 1/√D. causal: each row sees itself and what
    came before, with no mask in memory; both given, both must allow it. A tile in which no cell may
    be looked at is skipped.
    Raises ValueError for a tile without a cell, for a row that may look at nothing, and for a
    causal rule where T differs from S.
    """
    t, s = q.shape[-2], k.shape[-2]
    if rows < 1 or columns < 1:
        raise ValueError(f"a tile needs a row and a column at least; got {rows=}, {columns=}")
    if causal:
        require_square(t, s)
    if mask is not None:
        mask = mask & causal_mask(t, mask.device) if causal else mask
        mask = mask.expand(*torch.broadcast_shapes(mask.shape, (t, s)))
        refuse_fully_masked_rows(mask)
    scale = 1 / math.sqrt(q.shape[-1]) if scale is None else scale

    def seen(own: slice, keys: slice) -> Tensor | None:
        if mask is not None:
            return mask[..., own, keys]
        if not causal:
            return None
        positions = torch.arange(t, device=q.device)
        return positions[own, None] >= positions[keys]

    spans = [slice(first, min(first + columns, s)) for first in range(0, s, columns)]
    for first in range(0, t, rows):
        yield from _strip(q, k, v, slice(first, min(first + rows, t)), spans, seen, scale)


def _strip(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    own: slice,
    spans: list[slice],
    seen: Callable[[slice, slice], Tensor | None],
    scale: float,
) -> Iterator[TileStep]:
    """The tiles of R rows, from the left to the right."""
    tiles = [(columns, seen(own, columns)) for columns in spans]
    tiles = [(columns, mask) for columns, mask in tiles if mask is None or mask.any()]
    queries = q[..., own, :]
    kept = torch.promote_types(q.dtype, torch.float32)
    lead = torch.broadcast_shapes(q.shape[:-2], k.shape[:-2])
    if tiles and tiles[0][1] is not None:
        lead = torch.broadcast_shapes(lead, tiles[0][1].shape[:-2])
    maximum = q.new_full((*lead, queries.shape[-2]), -math.inf, dtype=kept)
    total = torch.zeros_like(maximum)
    weighted = maximum.new_zeros(*maximum.shape, v.shape[-1])
    for number, (columns, mask) in enumerate(tiles):
        before, total_before, last = maximum, total, number == len(tiles) - 1
        keys, values = k[..., columns, :], v[..., columns, :]
        scores = (queries @ keys.transpose(-2, -1)).to(kept) * scale  # (…, R, C)
        if mask is not None:
            scores = scores.masked_fill(~mask, -math.inf)
        maximum = torch.maximum(before, scores.amax(-1))
        # A row that has seen nothing yet has no maximum: e^(−∞ − 0) is 0, where −∞ − (−∞) is not.
        level = maximum.masked_fill(maximum == -math.inf, 0.0)
        rescale = (before - level).exp()
        exponentials = (scores - level[..., None]).exp()
        total = total_before * rescale + exponentials.sum(-1)
        weighted = weighted * rescale[..., None] + exponentials @ values.to(kept)
        read = queries.shape[-1] * (keys.shape[-2] + (queries.shape[-2] if number == 0 else 0))
        read += values.shape[-1] * values.shape[-2]
        written = queries.shape[-2] * v.shape[-1] if last else 0
        yield TileStep(
            rows=own,
            columns=columns,
            scores=scores,
            maximum_before=before,
            maximum=maximum,
            rescale=rescale,
            exponentials=exponentials,
            total_before=total_before,
            total=total,
            weighted=weighted,
            last=last,
            traffic=Traffic(read, written),
        )


def attention_tiled(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    rows: int,
    columns: int,
    mask: Tensor | None = None,
    scale: float | None = None,
    *,
    causal: bool = False,
) -> Tensor:
    """The output of `attention`, (…, T, D), as the end of `tile_steps`; see there.

    It shows how it is done, and is not fast: each tile is a few calls of torch, where a fused
    kernel does all of it in one. `fast_attention` calls such a kernel.

    >>> x = torch.tensor([[1.0, 0.0], [0.0, 1.0]])
    >>> attention_tiled(x, x, x, rows=1, columns=1, scale=1.0)
    tensor([[0.7311, 0.2689],
            [0.2689, 0.7311]])
    """
    steps = tile_steps(q, k, v, rows, columns, mask, scale, causal=causal)
    return torch.cat([step.output for step in steps if step.last], dim=-2).to(v.dtype)
