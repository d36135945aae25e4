"""What the next token costs as the text grows, with the cache of keys and values and without.

n tokens of a text, L layers, G heads of keys and values, D head size.
"""

from __future__ import annotations

import math
import time
from typing import NamedTuple

import torch

from llmviz.models.base import LanguageModel
from llmviz.models.transformers import require_transformer
from llmviz.nn.cache import KVCache

TRIES = 4
SECONDS = 1.0  # after which no longer text is tried
LONGEST = 256  # tokens


class CacheCosts(NamedTuple):
    """Measured on this machine, for texts of several lengths, the shortest first."""

    lengths: tuple[int, ...]  # n, the last token included
    without: tuple[float, ...]  # milliseconds of a pass over all n tokens
    with_cache: tuple[float, ...]  # milliseconds of a pass over the last token alone
    held: tuple[int, ...]  # bytes of keys and values of n tokens
    alone: bool  # the time is the processor's for this work alone, not the time on the clock


def cache_costs(model: LanguageModel, seconds: float = SECONDS) -> CacheCosts:
    """Measure the pass that gives the next token, the shortest of four tries at each length.

    The lengths are powers of two up to the context, at most 256; a length is the last one once
    `seconds` are over. Which tokens they are makes no difference worth speaking of. The tries of a
    length are not made one after the other, so that what else the machine does for a moment
    disturbs one of them alone; there are fewer once `seconds` are over.
    Raises ValueError for a model that is no transformer, or whose tokens see the future.
    """
    gpt = require_transformer(model)
    longest = min(gpt.context_length, LONGEST)
    lengths = [2**power for power in range(int(math.log2(longest)) + 1)]
    ids = (torch.arange(longest) % gpt.vocab_size)[None]
    cache, alone = gpt.new_cache(), torch.get_num_threads() == 1
    clock = time.thread_time if alone else time.perf_counter

    def taken(n: int, cached: bool) -> float:
        cache.length = n - 1  # the keys and values of the longest text are all there
        began = clock()
        if cached:
            gpt(ids[:, n - 1 : n], cache=cache, last_only=True)
        else:
            gpt(ids[:, :n], last_only=True)
        return 1000 * (clock() - began)

    best: dict[int, tuple[float, float]] = {}
    with torch.inference_mode():
        gpt(ids, cache=cache, last_only=True)  # what a first pass sets up is not measured
        end = time.perf_counter() + seconds
        for tried in range(TRIES):
            for n in lengths if not tried else list(best):
                now = taken(n, cached=False), taken(n, cached=True)
                before = best.get(n, now)
                best[n] = min(before[0], now[0]), min(before[1], now[1])
                if time.perf_counter() > end:
                    break
    held = tuple(bytes_held(cache, n) for n in best)
    without, with_cache = zip(*best.values(), strict=True)
    return CacheCosts(tuple(best), without, with_cache, held, alone)


def bytes_held(cache: KVCache, n: int) -> int:
    """Return the bytes of the keys and values of n tokens, counted from the cache's tensors."""
    parts = (*cache.keys, *cache.values)  # (1, G, S, D) each
    return sum(part[:, :, :n].numel() * part.element_size() for part in parts)
