"""From a masked text to a whole one in any number of steps, several tokens a step.

T time, V text tokens, with ids below mask_id; n masked positions, K steps. The tokens of one step
are drawn independently of each other. With K = n, one token a step, the text follows the
conditionals exactly; with fewer steps, tokens that depend on each other no longer match.

Reference: Austin et al. 2021, "Structured Denoising Diffusion Models in Discrete State-Spaces",
absorbing state; Nie et al. 2025, "Large Language Diffusion Models", for a fixed number of tokens a
step, where the diffusion itself reveals each masked token with the same probability.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import combinations, product
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from llmviz.models.masked_diffusion import Predictor

ORDERS = ("random", "confident")
LIMIT = 20_000  # partly masked texts that are followed one by one


class UnmaskStep(NamedTuple):
    """What one step revealed, from left to right, and the text after it."""

    positions: tuple[int, ...]
    tokens: tuple[int, ...]
    probabilities: tuple[float, ...]  # of each of these tokens, before it was drawn
    ids: tuple[int, ...]  # T


def reveal_counts(masked: int, steps: int) -> list[int]:
    """Return how many of n masked positions each of K steps reveals: equally many, or one more.

    The linear schedule takes an equal share in each step. The first steps take the remainder.

    >>> reveal_counts(7, 3)
    [3, 2, 2]

    Raises ValueError unless there is a masked position and 1 ≤ K ≤ n.
    """
    if masked < 1:
        raise ValueError("there is no masked position to fill")
    if not 1 <= steps <= masked:
        raise ValueError(f"steps must be from 1 to {masked}, the masked positions; got {steps}")
    return [masked // steps + (step < masked % steps) for step in range(steps)]


def most_confident(probabilities: Tensor, count: int) -> list[int]:
    """Return the rows of (n, V) whose largest probability is highest, in ascending order.

    Of rows that are equal to 9 decimals the first come first.

    >>> most_confident(torch.tensor([[0.5, 0.5], [0.1, 0.9], [0.8, 0.2]]), 2)
    [1, 2]

    Reference: Chang et al. 2022, "MaskGIT". There the confidence is that of the token drawn, which
    favours probable texts even with one token a step; here nothing is drawn before the choice.
    """
    confidence = probabilities.amax(1).round(decimals=9)
    return sorted(confidence.argsort(descending=True, stable=True)[:count].tolist())


def unmask(
    predict: Predictor,
    ids: Sequence[int],
    steps: int,
    mask_id: int,
    order: str = "random",
    generator: torch.Generator | None = None,
) -> Iterator[UnmaskStep]:
    """Fill in every mask_id of ids (T) in K steps, and yield what each step revealed.

    order: which masked positions come first, random ones or the most confident ones.
    Raises ValueError as `reveal_counts` and for an unknown order, before the first step.
    """
    _check_order(order)
    text = torch.tensor(list(ids))
    counts = reveal_counts(int((text == mask_id).sum()), steps)
    return _steps(predict, text, counts, mask_id, order, generator)


def _steps(
    predict: Predictor,
    text: Tensor,
    counts: list[int],
    mask_id: int,
    order: str,
    generator: torch.Generator | None,
) -> Iterator[UnmaskStep]:
    for count in counts:
        masked = (text == mask_id).nonzero()[:, 0]  # (n,)
        p = _probabilities(predict, text[None], mask_id)[0, masked]  # (n, V)
        if order == "random":
            chosen = sorted(torch.randperm(len(masked), generator=generator)[:count].tolist())
        else:
            chosen = most_confident(p, count)
        tokens = torch.multinomial(p[chosen], 1, generator=generator)[:, 0]
        text[masked[chosen]] = tokens
        yield UnmaskStep(
            tuple(masked[chosen].tolist()),
            tuple(tokens.tolist()),
            tuple(p[chosen, tokens].tolist()),
            tuple(text.tolist()),
        )


def unmasking_distribution(
    predict: Predictor, tokens: int, steps: int, mask_id: int, order: str = "random"
) -> np.ndarray:
    """Return the exact probability of each text that `unmask` writes from T masks in K steps.

    tokens: T. The array has T axes of V = mask_id tokens each. With K = 1 it is the product of the
    marginals; with K = T and the true conditionals of a joint, that joint, in either order.
    Between them, more steps are not always closer to the joint when confident positions come first.
    Raises ValueError as `unmask`, and for more than `LIMIT` partly masked texts, (V + 1)^T.
    """
    _check_order(order)
    counts = reveal_counts(tokens, steps)
    if (mask_id + 1) ** tokens > LIMIT:
        raise ValueError(
            f"{mask_id} tokens and a mask to the power of {tokens} are more partly masked texts "
            f"than the {LIMIT:,} that are followed"
        )
    states = {(mask_id,) * tokens: 1.0}
    for count in counts:
        following: dict[tuple[int, ...], float] = defaultdict(float)
        rows = _probabilities(predict, torch.tensor(list(states)), mask_id)
        for (state, so_far), p in zip(states.items(), rows, strict=True):
            masked = [position for position, token in enumerate(state) if token == mask_id]
            if order == "random":
                choices = list(combinations(masked, count))
            else:
                choices = [tuple(masked[row] for row in most_confident(p[masked], count))]
            table = p.tolist()
            for positions in choices:
                for drawn in product(range(mask_id), repeat=count):
                    share = math.prod(table[at][v] for at, v in zip(positions, drawn, strict=True))
                    if share:
                        text = list(state)
                        for position, token in zip(positions, drawn, strict=True):
                            text[position] = token
                        following[tuple(text)] += so_far * share / len(choices)
        states = following
    result = np.zeros((mask_id,) * tokens)
    for written, probability in states.items():
        result[written] = probability
    return result


def _probabilities(predict: Predictor, rows: Tensor, mask_id: int) -> Tensor:
    """The distributions (B, T, V) over the tokens of text, float64."""
    with torch.no_grad():
        return predict(rows)[..., :mask_id].double().softmax(-1)


def _check_order(order: str) -> None:
    if order not in ORDERS:
        raise ValueError(f"order must be one of {', '.join(ORDERS)}; got {order!r}")
