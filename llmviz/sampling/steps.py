"""The steps between a model's logits and a token, each a pure function.

Shapes: V vocabulary. Every step takes logits (V,) float64 and returns new logits (V,) in which a
cut token is -inf. Ties are broken everywhere by one rule: the lowest token id comes first.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import torch

# Rounding in a running sum of probabilities must not push a set that reaches p exactly past it.
MASS_TOLERANCE = 1e-12


def as_logits(logits: torch.Tensor | np.ndarray | list[float]) -> np.ndarray:
    """Return logits as a float64 array (V,), refusing what no pipeline can use.

    A tensor on any device and of any floating type is accepted; nothing is modified in place.

    Raises: ValueError for a wrong shape, for NaN or +inf, and when every token is -inf already.
    """
    if hasattr(logits, "detach"):
        logits = logits.detach().cpu()
        logits = (logits if logits.element_size() > 2 else logits.float()).numpy()  # bfloat16
    values = np.array(logits, dtype=np.float64)
    if values.ndim != 1 or values.size == 0:
        raise ValueError(
            f"logits must be one row with a number per token; got shape {values.shape}"
        )
    highest = values.max()  # NaN if any is
    if math.isnan(highest) or highest == math.inf:
        where = int(np.flatnonzero(np.isnan(values) | (values == math.inf))[0])
        raise ValueError(f"logits must be finite or -inf; token {where} has {values[where]}")
    if highest == -math.inf:
        raise ValueError("every token is cut already: all logits are -inf, so none can be drawn")
    return values


def softmax(logits: np.ndarray) -> np.ndarray:
    """Return probabilities of logits (..., V); a logit of -inf has probability 0.

    >>> softmax(np.array([0.0, 0.0, -np.inf])).tolist()
    [0.5, 0.5, 0.0]
    """
    if logits.ndim == 1:  # the same with less overhead, once per generated token
        exps = np.exp(logits - logits.max())
        return exps / exps.sum()
    exps = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return exps / exps.sum(axis=-1, keepdims=True)


def entropy(probabilities: np.ndarray) -> np.ndarray | float:
    """Return the entropy -Σ p ln p in nats of probabilities (..., V), with 0 ln 0 = 0.

    Reference: Shannon 1948, section 6 (natural logarithm instead of base 2).
    """
    p = np.asarray(probabilities, dtype=np.float64)
    logs = np.log(p, out=np.zeros_like(p), where=p > 0)
    total = -(p * logs).sum(axis=-1)
    return float(total) if total.ndim == 0 else total


def apply_temperature(logits: np.ndarray, temperature: float) -> np.ndarray:
    """Divide logits (V,) by the temperature; 0 keeps the largest alone, with no division.

    At 0 equally large logits are settled by the lowest id. At infinity all tokens that are not
    cut become equal.

    >>> apply_temperature(np.array([1.0, 3.0, 3.0]), 0.0).tolist()
    [-inf, 3.0, -inf]

    Raises: ValueError when the temperature is negative, NaN, or so small that dividing overflows.

    Reference: Ackley, Hinton, Sejnowski 1985, equation 5 (the temperature of a Boltzmann machine).
    """
    check_temperature(temperature)
    if temperature == 0:
        return keep_top_k(logits, 1)
    if temperature == math.inf:
        return np.where(np.isneginf(logits), -np.inf, 0.0)
    with np.errstate(over="ignore"):
        scaled = logits / temperature
    if not math.isfinite(scaled.max()) or np.isneginf(scaled).sum() > np.isneginf(logits).sum():
        raise ValueError(
            f"temperature {temperature:g} is too small to divide by; use 0 for arg-max"
        )
    return scaled


def keep_top_k(logits: np.ndarray, k: int) -> np.ndarray:
    """Keep the k largest of logits (V,), exactly k even when some are equal.

    Fewer than k stay only when fewer had not been cut before.

    >>> keep_top_k(np.array([2.0, 1.0, 2.0, 2.0]), 2).tolist()
    [2.0, -inf, 2.0, -inf]

    Raises: ValueError when k is not a whole number from 1 to V.

    Reference: Fan, Lewis, Dauphin 2018, section 5.
    """
    check_top_k(k, logits.size)
    if k == logits.size:
        return logits.copy()
    if k == 1:  # greedy decoding does it for each token; argmax is the first of equal ones
        result, best = np.full_like(logits, -np.inf), logits.argmax()
        result[best] = logits[best]
        return result
    threshold = np.partition(logits, logits.size - k)[logits.size - k]
    kept = logits > threshold
    ties = np.flatnonzero(logits == threshold)
    kept[ties[: k - int(kept.sum())]] = True
    return np.where(kept, logits, -np.inf)


def nucleus_size(probabilities: np.ndarray, p: float) -> int:
    """Return how many of the most probable tokens, at least one, are needed to reach mass p."""
    cumulative = np.cumsum(np.sort(probabilities)[::-1])
    size = int(np.searchsorted(cumulative, p - MASS_TOLERANCE, side="left")) + 1
    return min(size, int(np.count_nonzero(probabilities)))


def keep_top_p(logits: np.ndarray, p: float) -> np.ndarray:
    """Keep the smallest set of most probable tokens whose mass reaches p, at least one.

    The mass is counted over the whole vocabulary of logits (V,), never over a shortlist.

    >>> keep_top_p(np.log(np.array([0.5, 0.2, 0.3])), 0.8).tolist()[1]
    -inf

    Raises: ValueError when p is not above 0 and at most 1; p = 1 keeps every token.

    Reference: Holtzman et al. 2020, equation 2.
    """
    check_top_p(p)
    if p == 1:
        return logits.copy()
    return keep_top_k(logits, nucleus_size(softmax(logits), p))


def keep_min_p(logits: np.ndarray, min_p: float) -> np.ndarray:
    """Keep the tokens at least min_p times as probable as the most probable one.

    Raises: ValueError when min_p is not from 0 to 1; 0 keeps every token, 1 only the largest.

    Reference: Nguyen et al. 2024, section 3, equations 1 and 2.
    """
    check_min_p(min_p)
    probabilities = softmax(logits)
    return np.where(probabilities >= min_p * probabilities.max(), logits, -np.inf)


def penalise_repetition(
    logits: np.ndarray, previous: Iterable[int] | None, penalty: float
) -> np.ndarray:
    """Make each token id that occurs in `previous` less likely, once however often it occurs.

    A positive logit is divided by the penalty and a negative one multiplied by it, so the result
    depends on where the zero of the logits lies, which softmax does not. A penalty below 1
    favours repetition; 1 changes nothing.

    >>> penalise_repetition(np.array([2.0, -2.0, 2.0]), [0, 1, 0], 2.0).tolist()
    [1.0, -4.0, 2.0]

    Raises: ValueError when the penalty is not above 0 or a previous id is outside the vocabulary.

    Reference: Keskar et al. 2019, section 4.1, with the rule for negative logits that came later.
    """
    check_penalty(penalty)
    ids = check_ids(previous, logits.size, "previous")
    result = logits.copy()
    seen = result[ids]
    result[ids] = np.where(seen > 0, seen / penalty, seen * penalty)
    return result


def ban(logits: np.ndarray, banned: Iterable[int] | None) -> np.ndarray:
    """Cut the token ids in `banned` from logits (V,), however probable they are.

    Raises: ValueError when an id is outside the vocabulary.
    """
    ids = check_ids(banned, logits.size, "banned")
    result = logits.copy()
    result[ids] = -np.inf
    return result


def check_temperature(temperature: float) -> None:
    """Raise ValueError unless the temperature is 0 or above."""
    if math.isnan(temperature) or temperature < 0:
        raise ValueError(f"temperature must be 0 (arg-max) or above; got {temperature}")


def check_top_k(k: int, vocab_size: int | None = None) -> None:
    """Raise ValueError unless k is a whole number from 1 to the vocabulary's size."""
    if isinstance(k, bool) or int(k) != k or k < 1:
        raise ValueError(f"top_k must be a whole number of tokens, 1 or more; got {k}")
    if vocab_size is not None and k > vocab_size:
        raise ValueError(f"top_k must not exceed the vocabulary of {vocab_size} tokens; got {k}")


def check_top_p(p: float) -> None:
    """Raise ValueError unless p is above 0 and at most 1."""
    if not 0 < p <= 1:
        hint = "; use temperature 0 for the single most probable token" if p == 0 else ""
        raise ValueError(f"top_p must be above 0 and at most 1 (1 keeps all); got {p}{hint}")


def check_min_p(min_p: float) -> None:
    """Raise ValueError unless min_p is from 0 to 1."""
    if not 0 <= min_p <= 1:
        raise ValueError(f"min_p must be from 0 (keeps all) to 1 (keeps the largest); got {min_p}")


def check_penalty(penalty: float) -> None:
    """Raise ValueError unless the penalty is a finite number above 0."""
    if not 0 < penalty < math.inf:
        raise ValueError(f"repetition_penalty must be above 0 (1 changes nothing); got {penalty}")


def check_ids(ids: Iterable[int] | None, vocab_size: int, what: str) -> np.ndarray:
    """Return distinct token ids as an index array, refusing any outside the vocabulary."""
    if ids is None:
        return np.empty(0, dtype=np.int64)
    if hasattr(ids, "tolist"):
        ids = np.ravel(ids.tolist())
    distinct = np.unique(np.array(list(ids), dtype=np.int64))
    if distinct.size and (distinct[0] < 0 or distinct[-1] >= vocab_size):
        wrong = distinct[0] if distinct[0] < 0 else distinct[-1]
        raise ValueError(
            f"{what} ids must be from 0 to {vocab_size - 1} for this vocabulary; got {wrong}"
        )
    return distinct
