"""What a loss means, and what a count of right answers says about all of their kind."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist, mean, stdev
from typing import Any, Self

LN2 = math.log(2)


def perplexity(nats_per_token: float) -> float:
    """How many equally likely tokens the model hesitates between: e^loss.

    >>> round(perplexity(math.log(27)), 6)
    27.0

    Infinite where e^loss is beyond a float. It cannot be compared between tokenizers.
    """
    try:
        return math.exp(nats_per_token)
    except OverflowError:
        return math.inf


def bits_per_byte(nats: float, text_bytes: int) -> float:
    """The whole text's loss in bits for each byte of it, comparable between tokenizers.

    nats: the sum over all tokens. Raises ValueError if there are no bytes.
    """
    if text_bytes < 1:
        raise ValueError(f"bits per byte need at least one byte of text; got {text_bytes}")
    return nats / LN2 / text_bytes


def against(losses: Iterable[float], others: Iterable[float]) -> str:
    """Return whether losses of some trainings are "better" or "worse" than others, or the "same".

    The same: their means are no further apart than twice the error of the difference. Each has at
    least two. Where trainings come in pairs, their differences are held against zeros.
    """
    ours, theirs = list(losses), list(others)
    error = math.hypot(*(stdev(each) / math.sqrt(len(each)) for each in (ours, theirs)))
    apart = mean(ours) - mean(theirs)
    return "same" if abs(apart) <= 2 * error else "better" if apart < 0 else "worse"


def distance_to_floor(loss: float, floor: float) -> float:
    """How far a loss is above the entropy of its text, as a share of it: 0.05 is 5 % above.

    Both in the same unit. Raises ValueError for a floor that is not positive.
    """
    if not floor > 0:
        raise ValueError(f"the floor must be above 0; got {floor}")
    return loss / floor - 1


def ratio_error(sums: Sequence[float], sizes: Sequence[float]) -> float | None:
    """The standard error of sum(sums) / sum(sizes), where both come from K independent parts.

    K / (K - 1) times the sum of (sums - ratio times sizes) squared, under the root, over the sum of
    sizes. With equal sizes that is the standard error of a mean. None for fewer than two parts, or
    no size.

    Reference: Cochran 1977, "Sampling Techniques", equation 6.13 (of a large population).
    """
    parts, size = len(sums), sum(sizes)
    if parts < 2 or size <= 0:
        return None
    ratio = sum(sums) / size
    squares = sum((a - ratio * b) ** 2 for a, b in zip(sums, sizes, strict=True))
    return math.sqrt(parts / (parts - 1) * squares) / size


CONFIDENCE = 0.95  # of the interval of a share


@dataclass(frozen=True)
class Share:
    """How many of some questions were answered right, and what follows for all of their kind.

    >>> print(Share(97, 100))
    97.0 % (91.5 to 99.0)

    Raises ValueError for a count below 1, or more right answers than questions.
    """

    right: int
    count: int

    def __post_init__(self) -> None:
        if self.count < 1:
            raise ValueError(f"a share needs at least one question; got {self.count}")
        if not 0 <= self.right <= self.count:
            raise ValueError(f"right must be from 0 to {self.count}; got {self.right}")

    @property
    def share(self) -> float:
        """The share of these questions that was answered right."""
        return self.right / self.count

    @property
    def interval(self) -> tuple[float, float]:
        """Where the share of all such questions lies: Wilson's interval for CONFIDENCE.

        Its ends are the shares p from which that of these questions is z standard deviations
        away, z²·p(1 − p)/n = (share − p)². It stays within 0 and 1, also where none or all of
        the answers are right.

        Reference: Wilson 1927, "Probable inference, the law of succession, and statistical
        inference"; without a correction for continuity.
        """
        n, z = self.count, NormalDist().inv_cdf((1 + CONFIDENCE) / 2)
        middle = (self.right + z * z / 2) / (n + z * z)
        spread = z / (n + z * z) * math.sqrt(self.right * (n - self.right) / n + z * z / 4)
        low = 0.0 if self.right == 0 else middle - spread
        high = 1.0 if self.right == n else middle + spread
        return low, high

    def to_dict(self) -> dict[str, float]:
        """The counts, the share and its interval, for a card."""
        low, high = self.interval
        return {"right": self.right, "count": self.count, "share": self.share} | {
            "low": low,
            "high": high,
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """From `to_dict`; the counts say all. Raises KeyError where one is not there."""
        return cls(values["right"], values["count"])

    def __str__(self) -> str:
        low, high = self.interval
        return f"{100 * self.share:.1f} % ({100 * low:.1f} to {100 * high:.1f})"


def probe_shares(card: Mapping[str, Any]) -> dict[str, Share]:
    """The shares of probes in a model's card, by kind; of a card without such counts, none.

    >>> print(probe_shares({"probes": {"sums": {"right": 9, "count": 10}}})["sums"])
    90.0 % (59.6 to 98.2)
    """
    probes = card.get("probes")
    try:
        return {kind: Share.from_dict(share) for kind, share in dict(probes or {}).items()}
    except (AttributeError, KeyError, TypeError, ValueError):  # of another version
        return {}
