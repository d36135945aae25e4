"""Pairs of tokens that come again: what a model expects of them, and where its heads look.

T tokens, L layers, H heads, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from llmviz.models import GPT


@dataclass(frozen=True)
class Again:
    """A pair that stood earlier: the places of its first token, then and now.

    chance_before, chance: what the model gave the second token, then and now. weight: the most that
    a head gives, now, to the second token of then; layer, head: which head it is.
    """

    before: int
    place: int
    chance_before: float
    chance: float
    layer: int
    head: int
    weight: float


@dataclass(frozen=True)
class OnRandomTokens:
    """What a model does on blocks of random tokens that are written twice.

    previous, induction: the highest score of a head; which is the head of the latter (layer, head).
    even: the induction score of a head that looks at all tokens alike. first, again: the loss in
    nats per token in the first block, from its second token on, and in the second, from its second
    token on; with their standard errors over texts.
    """

    texts: int
    block: int
    previous: float
    induction: float
    which: tuple[int, int]
    even: float
    first: float
    first_error: float
    again: float
    again_error: float


def pairs_again(ids: Sequence[int]) -> list[tuple[int, int]]:
    """Return for each pair of neighbours that stood earlier where it did last, and where it is now.

    Both pairs have no token in common.

    >>> pairs_again([5, 6, 7, 5, 6, 7])
    [(0, 3), (1, 4)]
    """
    last: dict[tuple[int, int], int] = {}
    found = []
    for place in range(len(ids) - 1):
        if place >= 2:
            last[ids[place - 2], ids[place - 1]] = place - 2
        pair = (ids[place], ids[place + 1])
        if pair in last:
            found.append((last[pair], place))
    return found


def again_in(model: GPT, ids: Sequence[int]) -> list[Again]:
    """Return what a model makes of each pair that comes again in a text of T tokens."""
    import torch

    from llmviz.trace import record

    pairs = pairs_again(ids)
    if not pairs:
        return []
    with torch.inference_mode(), record("blocks.*.attn.weights") as trace:
        chances = model(torch.tensor([list(ids)]))[0][0].double().softmax(-1).numpy()
    weights = np.stack([part[0].numpy() for part in trace.values()])  # (L, H, T, T)
    found = []
    for before, place in pairs:
        looks = weights[:, :, place, before + 1]
        layer, head = np.unravel_index(looks.argmax(), looks.shape)
        second = ids[place + 1]
        expects = float(chances[before, second]), float(chances[place, second])
        where = int(layer), int(head)
        found.append(Again(before, place, *expects, *where, float(looks[layer, head])))
    return found


def on_random_tokens(
    model: GPT, vocabulary: Sequence[int], texts: int = 64, block: int = 24, seed: int = 0
) -> OnRandomTokens:
    """Measure a model on blocks of tokens that are drawn from a vocabulary and written twice."""
    import torch

    from llmviz.interpretability.induction import losses, scores
    from llmviz.nn.attention.study import summarise_heads

    drawn = np.random.default_rng(seed).choice(np.asarray(vocabulary), (texts, block))
    twice = np.concatenate([drawn, drawn], 1)
    previous, induction = scores(model, twice)
    alike = torch.ones(2 * block, 2 * block).tril()
    alike = alike / alike.sum(-1, keepdim=True)
    even = np.mean([float(summarise_heads(alike, text).induction) for text in twice.tolist()])
    with torch.inference_mode():
        each = losses(model, torch.from_numpy(twice)).double().numpy()
    halves = each[:, : block - 1].mean(1), each[:, block:].mean(1)  # (texts,) each
    layer, head = np.unravel_index(induction.argmax(), induction.shape)
    numbers = [
        float(number) for half in halves for number in (half.mean(), half.std(ddof=1) / texts**0.5)
    ]
    which = int(layer), int(head)
    highest = float(previous.max()), float(induction.max())
    return OnRandomTokens(texts, block, *highest, which, float(even), *numbers)
