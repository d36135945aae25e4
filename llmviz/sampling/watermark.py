"""A red–green watermark: a key colours the words that may come next, and green ones get a push.

Who has the key counts: ordinary text is green as often as chance has it, pushed text more.

Shapes: V vocabulary, N pairs of a token and the one after it.
Reference: Kirchenbauer et al. 2023 (arXiv 2301.10226), algorithm 2 and section 4. There a seeded
generator draws a green list of fixed size for each token before; here each pair has a colour of its
own, drawn by a hash. So the colours of different pairs are independent, and over keys the number
of green ones among N is exactly binomial.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import torch

from llmviz.models.base import LanguageModel
from llmviz.sampling import steps as pure
from llmviz.sampling.generation import NextLogits, as_ids, vocabulary_of
from llmviz.sampling.pipeline import SamplingSteps, random_number
from llmviz.sampling.settings import SamplingSettings

_GOLDEN = 0x9E3779B97F4A7C15  # 2⁶⁴ by the golden ratio: keys that are neighbours lie far apart
_BITS = (1 << 64) - 1


def _mixed(x: np.ndarray) -> np.ndarray:
    """Return well mixed bits of numbers (…) uint64 (splitmix64: Steele et al. 2014)."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@dataclass(frozen=True)
class Watermark:
    """The settings that a writer and a detector share.

    key: a whole number. share: the part of all pairs that is green, above 0 and below 1 (γ).
    push: what is added to the logit of a green token, 0 or more (δ); a detector needs no push.
    Raises ValueError naming the rule.
    """

    key: int
    share: float = 0.25
    push: float = 2.0

    def __post_init__(self) -> None:
        if isinstance(self.key, bool) or not isinstance(self.key, int):
            raise ValueError(f"a watermark's key must be a whole number; got {self.key!r}")
        if not 0 < self.share < 1:
            raise ValueError(
                "the green share must be above 0 and below 1: with none or all green there is "
                f"nothing to count; got {self.share!r}"
            )
        if not 0 <= self.push < math.inf:
            raise ValueError(f"the push must be 0 or a finite number above; got {self.push!r}")

    def is_green(self, before: np.ndarray | int, token: np.ndarray | int) -> np.ndarray:
        """Return whether tokens (…) are green after those before them (…), broadcast."""
        before, token = np.asarray(before, np.uint64), np.asarray(token, np.uint64)
        with np.errstate(over="ignore"):  # arithmetic modulo 2⁶⁴ is meant
            start = _mixed(np.uint64((self.key * _GOLDEN) & _BITS) + before + np.uint64(1))
            bits = _mixed(_mixed(start + np.uint64(_GOLDEN)) + token + np.uint64(1))
        return (bits >> np.uint64(11)).astype(np.float64) * 2.0**-53 < self.share

    def pushed(self, logits: np.ndarray, before: int | None) -> np.ndarray:
        """Return logits (V,) with the push on what is green after a token; None: nothing is."""
        if before is None or not self.push:
            return logits
        return logits + self.push * self.is_green(before, np.arange(len(logits)))


@dataclass(frozen=True)
class MarkedToken:
    """A token that was written under a watermark.

    entropy: of the model's own probabilities at its place, in nats: how much choice there was.
    """

    id: int
    green: bool
    entropy: float


def write(
    model: LanguageModel,
    idx: torch.Tensor | Iterable[int],
    max_new_tokens: int,
    mark: Watermark,
    generator: torch.Generator | None = None,
    stop_id: int | None = None,
    settings: SamplingSettings | None = None,
) -> Iterator[MarkedToken]:
    """Yield tokens that continue a prompt, each drawn after the push on what is green.

    The push comes first and the steps of `settings` act on the pushed logits. Stops after
    `stop_id`. Raises ValueError as `generate` does for a prompt.
    """
    ids = as_ids(idx, vocabulary_of(model))
    next_logits = NextLogits(model)
    for _ in range(max_new_tokens):
        own = pure.as_logits(next_logits(ids))
        steps = SamplingSteps(mark.pushed(own, ids[-1]), settings or SamplingSettings(), ids)
        token = steps.draw(random_number(generator))
        green = bool(mark.is_green(ids[-1], token))
        yield MarkedToken(token, green, float(pure.entropy(pure.softmax(own))))
        ids.append(token)
        if token == stop_id:
            return


@dataclass(frozen=True)
class Verdict:
    """What a detector found: pairs (N, 2) of ids, each counted once, and which are green (N,)."""

    pairs: np.ndarray
    green: np.ndarray
    share: float

    @property
    def count(self) -> int:
        """How many pairs are green."""
        return int(self.green.sum())

    @property
    def z(self) -> float:
        """How many standard deviations above chance the count lies; 0 without pairs."""
        n = len(self.pairs)
        return z_of(self.count, n, self.share)

    @property
    def p(self) -> float:
        """The chance that text without the mark has so many green pairs or more: binomial."""
        return binomial_tail(self.count, len(self.pairs), self.share)


def detect(ids: Sequence[int] | np.ndarray, mark: Watermark) -> Verdict:
    """Count the green pairs of a text; a pair that comes again counts once.

    Else a text that repeats itself would cast one coin and count it many times.
    """
    ids = np.asarray(ids, dtype=np.int64)
    if ids.ndim != 1 or (ids.size and ids.min() < 0):
        raise ValueError(f"a text is a row of token ids from 0; got shape {ids.shape}")
    pairs = np.stack([ids[:-1], ids[1:]], axis=1)
    first = np.sort(np.unique(pairs, axis=0, return_index=True)[1])  # in the order of the text
    pairs = pairs[first]
    return Verdict(pairs, mark.is_green(pairs[:, 0], pairs[:, 1]), mark.share)


@dataclass(frozen=True)
class Evidence:
    """What a detector knows after each of N tokens: arrays (N,).

    green: whether the token is green. fresh: whether its pair comes for the first time, so that it
    counts. chance: that text without the mark has so many green pairs or more.
    """

    green: np.ndarray
    fresh: np.ndarray
    chance: np.ndarray
    share: float

    @property
    def count(self) -> int:
        """How many of the pairs that count are green."""
        return int((self.green & self.fresh).sum())

    @property
    def pairs(self) -> int:
        """How many pairs count."""
        return int(self.fresh.sum())

    def rings(self, alarm: float) -> int | None:
        """Return after how many tokens the chance is at most an alarm's; None: never."""
        return first_below(self.chance, alarm)


def evidence(text: Sequence[int], mark: Watermark) -> Evidence:
    """Return what `detect` finds after each token behind the first id."""
    ids = np.asarray(text, dtype=np.int64)
    green, fresh = mark.is_green(ids[:-1], ids[1:]), np.zeros(max(0, len(ids) - 1), dtype=bool)
    fresh[np.unique(np.stack([ids[:-1], ids[1:]], axis=1), axis=0, return_index=True)[1]] = True
    greens, pairs = (green & fresh).cumsum().tolist(), fresh.cumsum().tolist()
    tails = [binomial_tail(k, n, mark.share) for k, n in zip(greens, pairs, strict=True)]
    return Evidence(green, fresh, np.array(tails, dtype=np.float64), mark.share)


def first_below(chance: Iterable[float], alarm: float) -> int | None:
    """Return the place, from 1, of the first chance that is at most the alarm's; None: of none.

    >>> first_below([0.5, 0.01, 0.02], 0.01), first_below([], 0.01)
    (2, None)
    """
    return next((at for at, p in enumerate(chance, 1) if p <= alarm), None)


def z_of(green: int, pairs: int, share: float) -> float:
    """Return (green − γN) / √(γ(1 − γ)N), equation 2 of the reference; 0 for no pairs.

    >>> round(z_of(50, 100, 0.25), 4)
    5.7735
    """
    if not pairs:
        return 0.0
    return (green - share * pairs) / math.sqrt(share * (1 - share) * pairs)


@lru_cache(maxsize=50_000)
def binomial_tail(green: int, pairs: int, share: float) -> float:
    """Return the chance of so many heads or more among independent coins of this share.

    >>> binomial_tail(2, 2, 0.5), binomial_tail(0, 5, 0.25)
    (0.25, 1.0)
    """
    if green <= 0:
        return 1.0
    log, log_not = math.log(share), math.log1p(-share)
    whole = math.lgamma(pairs + 1)
    terms = [
        whole - math.lgamma(k + 1) - math.lgamma(pairs - k + 1) + k * log + (pairs - k) * log_not
        for k in range(green, pairs + 1)
    ]
    largest = max(terms, default=-math.inf)
    return min(1.0, math.exp(largest) * sum(math.exp(term - largest) for term in terms))


def least_green(pairs: int, share: float, alarm: float) -> int:
    """Return the least count that a detector with at most this rate of false alarms calls marked.

    It may be one more than all pairs: so few can prove nothing.
    """
    return next(green for green in range(pairs + 2) if binomial_tail(green, pairs, share) <= alarm)
