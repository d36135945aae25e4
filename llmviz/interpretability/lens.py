"""The logit lens: what a transformer would say if it stopped after each layer.

T tokens, C = n_embd, V vocabulary, L layers, P = L + 1 points, K listed tokens.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from llmviz.models.base import LanguageModel
from llmviz.models.gpt import GPT
from llmviz.models.transformers import require_transformer
from llmviz.trace import record

LISTED = 10
ROWS = 64  # vectors that are read at once: with 50,000 tokens their logits have 13 MB


class Lens(NamedTuple):
    """What each point of the stream says about the token after each token.

    The points are the embeddings and the end of each layer; the last one is the model's output.
    """

    probabilities: Tensor  # (P, T, K) of the most probable tokens, falling
    tokens: Tensor  # (P, T, K) which these are
    entropy: Tensor  # (P, T) in nats
    agrees: Tensor  # (P, T) bool: the most probable token is that of the last point
    of_last: Tensor  # (P, T) probability of the last point's most probable token
    stream: Tensor  # (P, T, C) the vectors that are read


def logit_lens(model: LanguageModel, ids: Sequence[int], listed: int = LISTED) -> Lens:
    """Read the residual stream after each layer through the model's final norm and head.

    ids: T token ids. listed: K, at most V.
    Raises ValueError for a model that is no transformer and for ids that it cannot read.

    Reference: nostalgebraist 2020, "interpreting GPT: the logit lens".
    """
    gpt = require_transformer(model)
    names = ["embed", *(f"blocks.{layer}.residual" for layer in range(gpt.config.n_layer))]
    with torch.inference_mode():
        with record(names) as trace:
            gpt(torch.tensor([list(ids)]), last_only=True)
        stream = torch.stack([trace[name][0] for name in names])  # (P, T, C)
        last = _says(gpt, stream[-1]).argmax(-1)  # (T,)
        # Several points at once: the head's matrix is read from memory once for all of them.
        at_once = max(1, ROWS // len(ids))
        points = [_points(gpt, some, last, listed) for some in stream.split(at_once)]
        parts = [torch.cat(part) for part in zip(*points, strict=True)]
        return Lens(*[*parts, stream])


def _says(gpt: GPT, x: Tensor) -> Tensor:
    """ln p of every token, (…, C) to (…, V)."""
    return gpt.head(gpt.norm_final(x)).log_softmax(-1)


def _points(gpt: GPT, x: Tensor, last: Tensor, listed: int) -> tuple[Tensor, ...]:
    """All fields of a Lens but `stream`, for points x (N, T, C)."""
    log_p = _says(gpt, x)
    p = log_p.exp()
    best = p.topk(min(listed, p.shape[-1]), dim=-1)
    return (
        best.values,
        best.indices,
        -torch.xlogy(p, p).sum(-1),
        best.indices[..., 0] == last,
        p.gather(-1, last.expand(len(x), -1)[..., None])[..., 0],
    )
