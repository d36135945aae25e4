"""A translation, and what the heads of cross-attention did while it was written.

T target length, S source length, C width, D head size, L layers, H heads. Torch is imported on
first use.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from llmviz.models import Seq2Seq
    from llmviz.models.translator import Translator


class TranslationTrace(NamedTuple):
    """A translation, and what the heads of cross-attention had to do with it."""

    written: tuple[int, ...]  # ids, without start and end
    weights: np.ndarray  # (L·H, T, S); row t is what was looked at to write token t
    asks: np.ndarray  # (L, T, C) what queries are made of
    read: np.ndarray  # (S, C) what keys and values are made of
    parts: tuple[np.ndarray, ...]  # queries (L, H, T, D), keys and values (L, H, S, D)


def translation_trace(model: Seq2Seq, source: Sequence[int]) -> TranslationTrace:
    """Return a model's translation of some ids, with all that its heads did while writing it."""
    import torch

    from llmviz.trace import record

    ids, layers = torch.tensor([list(source)]), range(model.config.n_layer)
    kinds = ("asks", "cross.q", "cross.k", "cross.v", "cross.weights")
    with torch.inference_mode():
        written = model.translate(ids)[0][: model.context_length - 1]
        start = torch.tensor([[model.config.start_id, *written]])
        with record(["encoder.output", *(f"decoder.blocks.*.{kind}" for kind in kinds)]) as trace:
            model(ids, start)
    asks, q, k, v, weights = (
        torch.cat([trace[f"decoder.blocks.{i}.{kind}"] for i in layers]).numpy() for kind in kinds
    )
    flat = weights.reshape(-1, *weights.shape[2:])
    read = trace["encoder.output"][0].numpy()
    return TranslationTrace(tuple(written), flat, asks, read, (q, k, v))


def translated(model: Translator, source: Sequence[int]) -> tuple[int, ...]:
    """Return a model's translation of some ids, without start and end."""
    import torch

    with torch.inference_mode():
        return tuple(model.translate(torch.tensor([list(source)]))[0])
