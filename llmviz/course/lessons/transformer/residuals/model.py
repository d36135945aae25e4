"""What the residual stream is made of, layer by layer.

T tokens, C = n_embd, L layers, P = L + 1 points: the embeddings, and the end of each layer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from llmviz.models.base import LanguageModel
from llmviz.models.residual import read_stream
from llmviz.models.transformers import require_sum

PARTS = ("embedding", "attention", "mlp")


class StreamShares(NamedTuple):
    """How long the stream is, and which part of it comes from where."""

    norms: Tensor  # (P, T) length of the vector
    shares: Tensor  # (3, P, T) of each of PARTS; they sum to 1


def stream_shares(model: LanguageModel, ids: Sequence[int]) -> StreamShares:
    """Measure the stream of a text: its length, and its shares by origin, at each point.

    The share of a part p of the vector x is p·x / x·x: how much of the length of x it makes. Shares
    sum to 1; a share is negative where a part points against the whole.
    Raises ValueError for a model whose stream is no sum (see `require_sum`).
    """
    gpt = require_sum(model)
    states = read_stream(gpt, list(ids)).states  # token, position, then attention, mlp by layer
    embedding = states[1]
    middles, ends = states[2::2], states[3::2]  # (L, T, C) each
    starts = torch.cat((embedding[None], ends[:-1]))
    none = torch.zeros_like(embedding)[None]
    attention = torch.cat((none, (middles - starts).cumsum(0)))  # (P, T, C)
    mlp = torch.cat((none, (ends - middles).cumsum(0)))
    whole = torch.cat((embedding[None], ends))
    parts = torch.stack((embedding.expand_as(whole), attention, mlp))  # (3, P, T, C)
    shares = (parts * whole).sum(-1) / whole.square().sum(-1)
    return StreamShares(whole.norm(dim=-1), shares)
