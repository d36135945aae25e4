"""Time and memory of attention on this machine: whole matrices, tiles, torch's fused kernel.

T tokens, H heads, D head size. For a process of its own: see `llmviz.background`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor

WAYS = ("matrices", "tiles", "fused")
LENGTHS = (128, 256, 512, 1024, 2048)  # tokens
HEADS, HEAD_SIZE = 2, 64
SIDE = 128  # rows and columns of a tile
TRIES = 4  # of which the quickest counts


@dataclass(frozen=True)
class AttentionCost:
    """One measurement: the quickest pass, and the most memory beside input and output."""

    way: str
    length: int
    milliseconds: float  # of the processor
    memory: int  # bytes


def attention_costs(
    lengths: Sequence[int] = LENGTHS, ways: Sequence[str] = WAYS, tries: int = TRIES
) -> Iterator[AttentionCost]:
    """Yield what causal attention of two heads costs in each way, the shortest length first.

    The ways: "matrices" is `attention`, which has every matrix whole; "tiles" is `attention_tiled`;
    "fused" is torch's kernel, `scaled_dot_product_attention`. All get the same float32 numbers.
    Raises ValueError for a way that is none of them, and for fewer tries than one.
    """
    import torch

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
    import torch.nn.functional as F

    from llmviz.nn.attention import attention, attention_tiled, causal_mask

    return {
        "matrices": lambda: attention(q, k, v, causal_mask(q.shape[-2])).output,
        "tiles": lambda: attention_tiled(q, k, v, SIDE, SIDE, causal=True),
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
    from torch.profiler import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiled:
        result = compute()
    held = most = 0
    for event in profiled.profiler.kineto_results.events():
        if event.name() == "[memory]":
            held += event.nbytes()
            most = max(most, held)
    return max(0, most - result.numel() * result.element_size())
