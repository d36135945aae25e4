"""The loop that writes a text, one token at a time, with the numbers of each round.

T tokens of the prompt, N rounds, C = n_embd, V vocabulary, K listed tokens, L layers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from llmviz.models.base import LanguageModel
from llmviz.models.transformers import require_transformer
from llmviz.sampling.generation import can_cache
from llmviz.trace import record

LISTED = 8


class Round(NamedTuple):
    """How one token was chosen: the most probable one is picked, and it is the first listed."""

    row: Tensor  # (C,) the last row of the stream behind the final norm: what the head multiplies
    tokens: tuple[int, ...]  # (K,) the most probable ones, falling
    scores: Tensor  # (K,) their logits
    probabilities: Tensor  # (K,)

    @property
    def pick(self) -> int:
        """The token that is appended."""
        return self.tokens[0]


def write_slowly(
    model: LanguageModel,
    ids: Sequence[int],
    most: int,
    stop_id: int | None = None,
    listed: int = LISTED,
) -> list[Round]:
    """Continue a text by its most probable tokens and keep what each round computed.

    ids: T token ids. most: N at most; it ends earlier behind the token `stop_id`, or where the
    context is full. Each round reads the new tokens alone where the model can have a cache, and
    the whole text where its tokens see the future.
    Raises ValueError for a model that is no transformer and for ids that it cannot read.
    """
    gpt = require_transformer(model)
    cache = gpt.new_cache() if can_cache(gpt) else None
    text, new = list(ids), list(ids)
    rounds: list[Round] = []
    while len(rounds) < most and len(text) <= gpt.context_length:
        with torch.inference_mode(), record("norm_final") as trace:
            read = text if cache is None else new
            logits = gpt(torch.tensor([read]), cache=cache, last_only=True)[0][0, -1]  # (V,)
            best = logits.topk(min(listed, len(logits)))
            probabilities = logits.softmax(-1)[best.indices]
        row = trace["norm_final"][0, -1]
        rounds.append(Round(row, tuple(best.indices.tolist()), best.values, probabilities))
        new = [rounds[-1].pick]
        text += new
        if new[0] == stop_id:
            break
    return rounds


def vectors_computed(tokens: int, rounds: int, *, cached: bool) -> list[int]:
    """How many vectors go through each layer, round by round, behind a prompt of T tokens.

    With a cache only the tokens that were not read yet; without one, all that are there.

    >>> vectors_computed(4, 3, cached=True), vectors_computed(4, 3, cached=False)
    ([4, 1, 1], [4, 5, 6])
    """
    return [1 if cached and n else tokens + n for n in range(rounds)]
