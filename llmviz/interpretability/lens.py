"""The logit lens: what a transformer would say if it stopped after each layer.

T tokens, C = n_embd, V vocabulary, L layers, P = L + 1 points, K listed tokens.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn

from llmviz.models.base import LanguageModel
from llmviz.models.transformers import require_transformer
from llmviz.nn.fast_linear import MANY_ROWS, PackedLinear
from llmviz.trace import record

LISTED = 10
ROWS = 128  # vectors that are read at once: with 50,000 tokens their logits have 26 MB


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
        # Several points at once: the head's matrix is read from memory once for all of them.
        head = _for_rows(gpt.head, len(names) * len(ids))
        points = []
        last = None  # (T,) the most probable token of the last point, which is read first
        for some in reversed(stream.split(max(1, ROWS // len(ids)))):
            said = _points(head, gpt.norm_final(some), last, listed)
            last = said[1][-1, :, 0] if last is None else last
            points.append(said)
        parts = [torch.cat(part[::-1]) for part in zip(*points, strict=True)]
        return Lens(*[*parts, stream])


def _for_rows(head: nn.Module, rows: int) -> nn.Module:
    """The head as it is fast for so many vectors in all."""
    if rows < MANY_ROWS or type(head) is not nn.Linear or head.weight.dtype is not torch.float32:
        return head
    return PackedLinear(head, ROWS)


def _points(head: nn.Module, x: Tensor, last: Tensor | None, listed: int) -> tuple[Tensor, ...]:
    """All fields of a Lens but `stream`, of normed points x (N, T, C); last: None if it is one."""
    logits = head(x)  # (N, T, V)
    p = logits.softmax(-1)
    best = p.topk(min(listed, p.shape[-1]), dim=-1)
    first = best.indices[..., :1]
    if last is None:
        last = first[-1, :, 0]
    # −Σ p ln p without a logarithm of each: ln p is a logit less the same for all tokens.
    below = logits.sub_(logits.gather(-1, first))
    entropy = -best.values[..., 0].log() - (p * below).sum(-1)
    return (
        best.values,
        best.indices,
        entropy,
        first[..., 0] == last,
        p.gather(-1, last.expand(len(x), -1)[..., None])[..., 0],
    )
