"""Attention of one head on a text, tile by tile, and what attention costs on this machine.

T tokens, L layers, H heads, D head size, B side of a tile, N tiles.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor
from torch.profiler import ProfilerActivity, profile

from llmviz.interpretability.heads_on_text import layer_trace, seen_by_rows
from llmviz.nn.attention import attention, attention_tiled, causal_mask, tile_steps
from llmviz.trace import record

if TYPE_CHECKING:
    from llmviz.models import GPT

WAYS = ("matrices", "tiles", "fused")
MEASURED = (128, 256, 512, 1024, 2048)  # tokens
HEADS, HEAD_SIZE = 2, 64
TILE = 128  # rows and columns of a tile
CLOSE = 1e-3  # of the largest value, what rounding may make of the same attention
TRIES = 4  # of which the quickest counts


@dataclass(frozen=True, eq=False)
class TiledText:
    """What `tile_steps` yields on a text, as arrays; rows that a tile does not have are 0.

    Each cell of `scores` and `exponentials` was computed in the one tile that it lies in; in cells
    that belong to no tile the scores are NaN.
    """

    scores: np.ndarray  # (T, T) scaled, −∞ where the mask forbids to look
    exponentials: np.ndarray  # (T, T) e^(score − maximum of its row after its tile)
    tiles: np.ndarray  # (N, 4) first row, end of the rows, first column, end of the columns
    maximum_before: np.ndarray  # (N, B)
    maximum: np.ndarray  # (N, B)
    rescale: np.ndarray  # (N, B)
    total_before: np.ndarray  # (N, B)
    total: np.ndarray  # (N, B)
    output: np.ndarray  # (N, B, D) what the rows of the tile have as output so far
    read: np.ndarray  # (N,) numbers read from slow memory up to and with the tile
    written: np.ndarray  # (N,) numbers written to it
    difference: float  # the largest between the output of the tiles and that of the whole


def require_softmax_after_mask(model: GPT) -> None:
    """Raise ValueError for a model whose softmax comes before its mask: it has no such tiles."""
    if model.config.softmax_before_mask is not None:
        raise ValueError("this model takes its softmax before the mask, which tiles cannot do")


def queries_keys_values(
    model: GPT, ids: Sequence[int], layer: int, head: int
) -> tuple[Tensor, Tensor, Tensor]:
    """Return the queries, keys and values of one head on a text, each (T, D).

    Heads that share keys and values get the shared ones.
    """
    return _of_head(layer_trace(model, ids, layer), head)


def _of_head(trace: Mapping[str, Tensor], head: int) -> tuple[Tensor, Tensor, Tensor]:
    shared = head * len(trace["k"]) // len(trace["q"])
    return trace["q"][head], trace["k"][shared], trace["v"][shared]


def tiles_on_text(model: GPT, ids: Sequence[int], layer: int, head: int, side: int) -> TiledText:
    """Return attention of one head on a text in square tiles.

    ids: T token ids. side: B.
    Raises ValueError for a model that takes its softmax before the mask, or whose scores are made
    of more than queries and keys.
    """
    require_softmax_after_mask(model)
    trace = layer_trace(model, ids, layer)
    q, k, v = _of_head(trace, head)
    mask, scale = seen_by_rows(model, len(ids)), model.blocks[layer].attn.scale
    steps = list(tile_steps(q, k, v, side, side, mask, scale))
    whole = trace["weights"][head] @ v  # what the model made, not what is made again here
    t, (n, d) = len(ids), (len(steps), v.shape[-1])
    scores, exponentials = np.full((t, t), np.nan, np.float32), np.zeros((t, t), np.float32)
    rows = {name: np.zeros((n, side), np.float32) for name in _ROWS}
    output = np.zeros((n, side, d), np.float32)
    difference = 0.0
    for at, step in enumerate(steps):
        scores[step.rows, step.columns] = step.scores
        exponentials[step.rows, step.columns] = step.exponentials
        count = step.rows.stop - step.rows.start
        for name, values in rows.items():
            values[at, :count] = getattr(step, name)
        output[at, :count] = step.output.nan_to_num(0.0)  # rows that may look at nothing so far
        if step.last:
            difference = max(difference, float((step.output - whole[step.rows]).abs().max()))
    if difference > CLOSE * float(v.abs().max()):
        raise ValueError("this model's scores are made of more than its queries and keys")
    return TiledText(
        scores=scores,
        exponentials=exponentials,
        tiles=np.array([_place(step) for step in steps], np.int32),
        output=output,
        read=np.cumsum([step.traffic.read for step in steps]),
        written=np.cumsum([step.traffic.written for step in steps]),
        difference=difference,
        **rows,
    )


def count_rescalings(model: GPT, ids: Sequence[int], side: int) -> np.ndarray:
    """Return how often a tile brings a row a larger maximum, for each layer and head, (L, H).

    ids: T token ids. side: B. Counted are rows that have seen another tile before.
    """
    with torch.inference_mode(), record("blocks.*.attn.masked") as trace:
        model(torch.tensor([list(ids)]), last_only=True)
    masked = np.stack([part[0].numpy() for part in trace.values()])  # (L, H, T, T)
    starts = range(0, masked.shape[-1], side)
    tiles = np.stack([masked[..., first : first + side].max(-1) for first in starts], -1)
    before = np.maximum.accumulate(tiles, -1)[..., :-1]  # (L, H, T, tiles − 1)
    return ((tiles[..., 1:] > before) & (before > -np.inf)).sum((-1, -2))


_ROWS = ("maximum_before", "maximum", "rescale", "total_before", "total")


def _place(step: Any) -> tuple[int, int, int, int]:
    return step.rows.start, step.rows.stop, step.columns.start, step.columns.stop


@dataclass(frozen=True)
class AttentionCost:
    """One measurement: the quickest pass, and the most memory beside input and output."""

    way: str
    length: int
    milliseconds: float  # of the processor
    memory: int  # bytes

    @property
    def megabytes(self) -> float:
        """The memory in millions of bytes."""
        return self.memory / 1e6


def attention_costs(
    lengths: Sequence[int] = MEASURED, ways: Sequence[str] = WAYS, tries: int = TRIES
) -> Iterator[AttentionCost]:
    """Yield what causal attention of two heads costs in each way, the shortest length first.

    The ways: "matrices" is `attention`, which has every matrix whole; "tiles" is `attention_tiled`;
    "fused" is torch's kernel, `scaled_dot_product_attention`. All get the same float32 numbers.
    Raises ValueError for a way that is none of them, and for fewer tries than one.
    """
    if unknown := set(ways) - set(WAYS):
        raise ValueError(f"a way must be one of {', '.join(WAYS)}; got {sorted(unknown)[0]!r}")
    if tries < 1:
        raise ValueError(f"at least one try is needed; got {tries}")
    for length in lengths:
        drawn = torch.Generator().manual_seed(length)
        q, k, v = torch.randn(3, 1, HEADS, length, HEAD_SIZE, generator=drawn)
        for way in ways:
            compute = _ways(q, k, v)[way]
            with torch.inference_mode():
                memory = peak_memory(compute)  # and what a first pass sets up is not measured
                taken = [_processor_time(compute) for _ in range(tries)]
            yield AttentionCost(way, length, 1000 * min(taken), memory)


def _ways(q: Tensor, k: Tensor, v: Tensor) -> dict[str, Callable[[], Tensor]]:
    return {
        "matrices": lambda: attention(q, k, v, causal_mask(q.shape[-2])).output,
        "tiles": lambda: attention_tiled(q, k, v, TILE, TILE, causal=True),
        "fused": lambda: F.scaled_dot_product_attention(q, k, v, is_causal=True),
    }


def _processor_time(compute: Callable[[], Tensor]) -> float:
    began = time.process_time()
    compute()
    return time.process_time() - began


def peak_memory(compute: Callable[[], Tensor]) -> int:
    """Return the most bytes that torch held at one time while computing, the result left out.

    What was there before is not counted. Every allocation on the processor counts, those inside a
    kernel too: they are taken from torch's profiler.
    """
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiled:
        result = compute()
    held = most = 0
    for event in profiled.profiler.kineto_results.events():
        if event.name() == "[memory]":
            held += event.nbytes()
            most = max(most, held)
    return max(0, most - result.numel() * result.element_size())
