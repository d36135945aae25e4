"""The keys and values that a model keeps of a text, as it reads and writes.

L layers, G heads of keys and values, T tokens, C width, D head size.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch

from llmviz.evaluation.cache_costs import bytes_held
from llmviz.models.transformers import require_transformer
from llmviz.trace import record

if TYPE_CHECKING:
    from llmviz.models.base import LanguageModel
    from llmviz.models.gpt import GPT


class CacheContents(NamedTuple):
    """What is in the cache in the end; after n tokens it held the first n rows of each head."""

    ids: tuple[int, ...]  # T, those that were written last
    read: int  # how many of them were the text
    keys: np.ndarray  # (L, G, T, D)
    values: np.ndarray  # (L, G, T, D)
    inputs: np.ndarray  # (L, T, C), what each layer's attention read: its norm's output, if any
    bytes: int  # counted from the cache's own tensors


def cache_contents(model: LanguageModel, ids: Sequence[int], write: int) -> CacheContents:
    """Let a model read a text at once and write up to `write` tokens, each the most probable one.

    It ends earlier where the context is full. The last token written is in the cache, too.
    Raises ValueError for a model that is no transformer or whose tokens see the future, for no
    token, and for ids that it cannot read.
    """
    gpt = require_transformer(model)
    if not len(ids):
        raise ValueError("there is no token to read")
    cache, text, new = gpt.new_cache(), list(ids), list(ids)
    taps = [_read_at(gpt, layer) for layer in range(gpt.config.n_layer)]
    read = []  # (L, T, C) of each pass
    with torch.inference_mode():
        for _ in range(write + 1):
            with record(taps) as trace:
                logits = gpt(torch.tensor([new]), cache=cache, last_only=True)[0]
            read.append(np.stack([trace[tap][0].float().numpy() for tap in taps]))
            if len(text) == min(gpt.context_length, len(ids) + write):
                break
            new = [int(logits[0, -1].argmax())]
            text += new
    n = cache.length
    keys, values = (
        np.stack([tensor[0, :, :n].float().numpy() for tensor in tensors])
        for tensors in (cache.keys, cache.values)
    )
    inputs = np.concatenate(read, axis=1)
    return CacheContents(tuple(text), len(ids), keys, values, inputs, bytes_held(cache, n))


def _read_at(gpt: GPT, layer: int) -> str:
    """The name in a trace of what the attention of a layer reads."""
    if gpt.config.norm == "pre":
        return f"blocks.{layer}.norm1"
    return f"blocks.{layer - 1}.residual" if layer else "embed"
