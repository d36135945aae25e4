"""The keys and values that a model keeps of a text, as it reads and writes.

L layers, G heads of keys and values, T tokens, D head size.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import nn

from llmviz.study.cache_costs import bytes_held
from llmviz.study.transformers import require_transformer


class CacheContents(NamedTuple):
    """What is in the cache in the end; after n tokens it held the first n rows of each head."""

    ids: tuple[int, ...]  # T, those that were written last
    read: int  # how many of them were the text
    keys: np.ndarray  # (L, G, T, D)
    values: np.ndarray  # (L, G, T, D)
    bytes: int  # counted from the cache's own tensors


def cache_contents(model: nn.Module, ids: Sequence[int], write: int) -> CacheContents:
    """Let a model read a text at once and write up to `write` tokens, each the most probable one.

    It ends earlier where the context is full. The last token written is in the cache, too.
    Raises ValueError for a model that is no transformer or whose tokens see the future, for no
    token, and for ids that it cannot read.
    """
    gpt = require_transformer(model)
    if not len(ids):
        raise ValueError("there is no token to read")
    cache, text, new = gpt.new_cache(), list(ids), list(ids)
    with torch.inference_mode():
        for _ in range(write + 1):
            logits = gpt(torch.tensor([new]), cache=cache, last_only=True)[0]
            if len(text) == min(gpt.context_length, len(ids) + write):
                break
            new = [int(logits[0, -1].argmax())]
            text += new
    n = cache.length
    keys, values = (
        np.stack([tensor[0, :, :n].float().numpy() for tensor in tensors])
        for tensors in (cache.keys, cache.values)
    )
    return CacheContents(tuple(text), len(ids), keys, values, bytes_held(cache, n))
