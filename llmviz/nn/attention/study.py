"""What attention weights tell: where a head looks, what the scale is good for, who looks ahead.

(…) any leading shape such as layers and heads, T time, S source length, D head size, V vocabulary.
"""

import math
from collections.abc import Callable, Sequence
from typing import Generic, NamedTuple, TypeVar

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor


def loss_as_written(model: Callable[[Tensor], tuple], rows: Sequence[Sequence[int]]) -> float:
    """Return the loss of a model that gets only what stands before, in nats per token.

    model: ids (B, T) to logits (B, T, V) and something. rows: texts as ids, of any lengths; each
    token but the first of a text is asked for with the tokens before it alone, as when the model
    writes. A model that cannot look ahead has the same loss as on whole texts.
    Raises ValueError: no text has two tokens.
    """
    loss, tokens = 0.0, 0
    with torch.inference_mode():
        for t in range(1, max(map(len, rows), default=0)):
            part = torch.tensor([list(row[: t + 1]) for row in rows if len(row) > t])
            logits = model(part[:, :t])[0][:, -1]  # (B, V)
            loss += F.cross_entropy(logits, part[:, t], reduction="sum").item()
            tokens += len(part)
    if not tokens:
        raise ValueError("a loss needs a text of two tokens or more")
    return loss / tokens


def weight_ahead(weights: Tensor) -> Tensor:
    """Return the share of weights (…, T, T) that lies on later tokens, (…).

    The mean over all rows but the last, which has nothing ahead; NaN for one token alone.
    """
    return weights.triu(1).sum(-1)[..., :-1].mean(-1)


Numbers = TypeVar("Numbers", Tensor, np.ndarray)


class HeadSummary(NamedTuple, Generic[Numbers]):
    """Where heads put their weight, each a tensor or an array of the leading shape (…).

    Shares run from 0 to 1 and are means over the rows for which they mean something: the first
    three over rows 2 and later, where the three places differ; `repeat` and `induction` over the
    rows whose token stood before. Without such rows they are NaN.
    """

    previous: Numbers  # on the token before
    itself: Numbers  # on the row's own token
    first: Numbers  # on token 0
    repeat: Numbers  # on earlier occurrences of the same token
    induction: Numbers  # on what followed earlier occurrences of the same token
    entropy: Numbers  # mean over all rows, in nats


def summarise_heads(weights: Tensor, ids: Sequence[int]) -> HeadSummary[Tensor]:
    """Measure where each head looks in a text.

    weights: (…, T, T), rows that sum to 1. ids: T token ids; equal ids are the same token.
    Induction looks at row i for each j < i − 1 with ids[j] = ids[i], and takes the weight on j + 1.
    Raises ValueError when the lengths differ.

    Reference: Olsson et al. 2022, "In-context Learning and Induction Heads": prefix matching.
    """
    t = weights.shape[-1]
    if weights.shape[-2] != t or len(ids) != t:
        raise ValueError(f"weights {tuple(weights.shape)} do not fit {len(ids)} tokens")
    token = torch.as_tensor(list(ids))
    same = (token[:, None] == token[None]).tril(-1)  # (T, T): j before i, equal
    followed = torch.zeros_like(same)
    followed[:, 1:] = same[:, :-1]
    followed.fill_diagonal_(False)  # what followed is then the row's own token
    rows = weights[..., 2:, :]
    return HeadSummary(
        previous=weights.diagonal(-1, -2, -1)[..., 1:].mean(-1),
        itself=weights.diagonal(0, -2, -1)[..., 2:].mean(-1),
        first=rows[..., 0].mean(-1),
        repeat=_share(weights, same),
        induction=_share(weights, followed),
        entropy=row_entropy(weights).mean(-1),
    )


def _share(weights: Tensor, wanted: Tensor) -> Tensor:
    """The weight on wanted cells, mean over the rows that have one."""
    rows = wanted.any(-1)
    return (weights * wanted).sum(-1)[..., rows].mean(-1)


def moved(first: np.ndarray, second: np.ndarray, shared: int) -> np.ndarray:
    """How much weight lies elsewhere in a second row: (…, T) and (…, S) to (…), from 0 to 1.

    Compared are the `shared` tokens that both texts begin with: half of the sum of the differences.
    Raises ValueError where a row is shorter.
    """
    if not 0 <= shared <= min(first.shape[-1], second.shape[-1]):
        raise ValueError(f"{shared} tokens are not shared by rows of {first.shape[-1]} tokens")
    return np.abs(first[..., :shared] - second[..., :shared]).sum(-1) / 2


def decision(weights: Tensor) -> Tensor:
    """How decidedly a head looks at others, (…, T, T) to (…), from 0 to 1.

    The mean over rows 2 and later of the largest weight given to one token that is neither the
    row's own nor the first; 0 where there are no such rows.
    """
    t = weights.shape[-1]
    if t < 3:
        return weights.new_zeros(weights.shape[:-2])
    others = weights.masked_fill(torch.eye(t, dtype=torch.bool), 0.0)[..., 2:, 1:]
    return others.amax(-1).mean(-1)


def row_entropy(weights: Tensor) -> Tensor:
    """−Σ w·ln w of each row in nats, (…, T, S) to (…, T); a weight of 0 counts as 0."""
    return -torch.xlogy(weights, weights).sum(-1)


def alignment_share(weights: Tensor, pairs: Sequence[tuple[int, int]]) -> Tensor:
    """The mean weight on the known partner: (…, T, S) and pairs (source, target) to (…).

    Raises ValueError for no pairs and for places outside the weights.
    """
    t, s = weights.shape[-2:]
    if not pairs or any(not (0 <= i < s and 0 <= j < t) for i, j in pairs):
        raise ValueError(f"an alignment names places in {s} source and {t} target tokens")
    source, target = torch.tensor(pairs).T
    return weights[..., target, source].mean(-1)


class ScaleStudy(NamedTuple):
    """Softmax rows of random queries and keys, one entry for each head size."""

    deviation: Tensor  # of the scores that the softmax gets
    entropy: Tensor  # of the rows, mean, in nats
    largest: Tensor  # weight of a row, mean
    gradient: Tensor  # Frobenius norm of ∂weights/∂scores, mean over rows


def scale_study(
    head_sizes: Sequence[int], keys: int = 16, queries: int = 64, seed: int = 0, *, scaled: bool
) -> ScaleStudy:
    """Let queries ask keys whose entries are independent normal numbers, for each head size.

    scaled: whether the scores are divided by √D. The random numbers depend on seed and head size
    only, so both settings see the same ones. The gradient of a row p is diag(p) − p·pᵀ.

    Reference: Vaswani et al. 2017, "Attention Is All You Need", section 3.2.1, footnote 4.
    """
    rows = []
    for d in head_sizes:
        generator = torch.Generator().manual_seed(seed * 10_007 + d)
        q, k = (
            torch.randn(n, d, generator=generator, dtype=torch.float64) for n in (queries, keys)
        )
        scores = q @ k.T / (math.sqrt(d) if scaled else 1.0)  # (queries, keys)
        p = scores.softmax(-1)
        rows.append((scores.std(), row_entropy(p).mean(), p.amax(-1).mean(), _slope(p).mean()))
    return ScaleStudy(*torch.tensor(rows, dtype=torch.float64).reshape(-1, 4).T)


def _slope(p: Tensor) -> Tensor:
    """‖diag(p) − p·pᵀ‖ of each row: √(Σp² − 2Σp³ + (Σp²)²)."""
    squares = p.square().sum(-1)
    return (squares - 2 * p.pow(3).sum(-1) + squares.square()).clamp(min=0).sqrt()
