"""Two mistakes that code for top-k and top-p makes, on the logits of a model.

Shapes: V vocabulary.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from llmviz.sampling import nucleus_size, softmax
from llmviz.sampling.pipeline import top_ids

SHORTLIST = 50  # tokens that a cut vocabulary holds
SHARES = (0.9, 0.95, 0.8, 0.99)  # of the probability, tried in this order
LARGEST_K = 100  # the largest k that a tie is looked for at


class CutVocabulary(NamedTuple):
    """The nucleus of share p among a few tokens, beside the one of the whole vocabulary.

    `short` and `whole` are numbers of tokens. `mass` is the probability that the `short` tokens
    really have, over the whole vocabulary; it is below p.
    """

    p: float
    shortlist: int
    short: int
    whole: int
    mass: float


class Tie(NamedTuple):
    """Equal logits at the edge of top-k: `kept` tokens are at least as large as the k-th.

    `last` is the last token of the k, by the rule that the lowest id comes first, and `extra` the
    first of the tokens that are equal to it and too many. `value` is their common logit.
    """

    k: int
    kept: int
    last: int
    extra: int
    value: float


def cut_vocabulary(logits: np.ndarray, shortlist: int = SHORTLIST) -> CutVocabulary | None:
    """Return what a softmax over only the `shortlist` largest of logits (V,) does to a nucleus.

    The first of `SHARES` where it makes the nucleus smaller is taken; None if there is none.
    """
    if shortlist >= logits.size:
        return None
    likely = top_ids(logits, shortlist)
    own, few = softmax(logits), softmax(logits[likely])
    for p in SHARES:
        short, whole = nucleus_size(few, p), nucleus_size(own, p)
        if short < whole:
            return CutVocabulary(p, shortlist, short, whole, float(own[likely[:short]].sum()))
    return None


def tie_at_top_k(logits: np.ndarray) -> Tie | None:
    """Return the first tie at an edge of top-k in logits (V,), from k = 2 on; None without one."""
    likely = top_ids(logits, min(LARGEST_K + 1, logits.size))
    values = logits[likely]
    for k in range(2, likely.size):
        if values[k - 1] == values[k] and np.isfinite(values[k]):
            kept = int(np.count_nonzero(logits >= values[k]))
            return Tie(k, kept, int(likely[k - 1]), int(likely[k]), float(values[k]))
    return None


def as_bfloat16(logits: np.ndarray) -> np.ndarray:
    """Return logits (V,) as a model in bfloat16 would give them: 8 significant bits, in float64."""
    import torch

    return torch.from_numpy(np.array(logits)).bfloat16().double().numpy()
