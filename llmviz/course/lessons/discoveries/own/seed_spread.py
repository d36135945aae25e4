"""Whether two values of a setting differ by more than seeds do: intervals over seeds, and pairs.

Each value is measured with the same seeds, so two values are compared seed by seed: what a seed
does to both of them falls away. An interval is Student's, which takes the scatter over seeds for
normal.

Reference: Student 1908, "The Probable Error of a Mean"; for several pairs at once, Bonferroni.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

CONFIDENCE = 0.95
SAME, APART, UNCLEAR, FEW = "same", "apart", "unclear", "few"


@dataclass(frozen=True)
class Interval:
    """A mean over n measurements, and how far from it the interval reaches; none for n = 1."""

    mean: float
    half: float | None
    count: int


@dataclass(frozen=True)
class Pair:
    """Two values by their places, and the second less the first over the seeds that both have.

    how: `same`, all these differences are 0; `apart`, the interval leaves out 0; `unclear`, it
    does not; `few`, fewer than two seeds.
    """

    first: int
    second: int
    difference: Interval
    how: str


def interval(values: Sequence[float], confidence: float = CONFIDENCE) -> Interval:
    """Return the mean of values and Student's interval around it. Raises ValueError for none."""
    if not len(values):
        raise ValueError("an interval needs at least one value")
    array = np.asarray(values, dtype=float)
    mean = float(array.mean())
    if len(array) < 2:
        return Interval(mean, None, 1)
    from scipy.special import stdtrit

    reach = stdtrit(len(array) - 1, (1 + confidence) / 2)
    # Equal values have no spread; numpy's own may be a rounding above 0.
    spread = 0.0 if np.ptp(array) == 0 else float(array.std(ddof=1))
    return Interval(mean, float(reach * spread / math.sqrt(len(array))), len(array))


def pairs(measured: Sequence[Mapping[int, float]]) -> list[Pair]:
    """Return all pairs of values, compared seed by seed.

    measured: for each value its measurements by seed. As many pairs are looked at, the intervals
    are wider: with all of them together, one in twenty is wrong where nothing differs.
    """
    number = math.comb(len(measured), 2)
    found = []
    for first, second in combinations(range(len(measured)), 2):
        shared = sorted(measured[first].keys() & measured[second].keys())
        differences = [measured[second][seed] - measured[first][seed] for seed in shared]
        if not differences:
            found.append(Pair(first, second, Interval(math.nan, None, 0), FEW))
            continue
        found.append(_pair(first, second, interval(differences, 1 - (1 - CONFIDENCE) / number)))
    return found


def _pair(first: int, second: int, difference: Interval) -> Pair:
    if difference.half is None:
        how = FEW
    elif difference.half == 0:
        how = SAME if difference.mean == 0 else APART
    else:
        how = APART if abs(difference.mean) > difference.half else UNCLEAR
    return Pair(first, second, difference, how)


def best_place(measured: Sequence[Mapping[int, float]], *, higher: bool) -> int | None:
    """Return the value whose mean is best; None where no value has a measurement, or two are best.

    higher: whether more is better.
    """
    means = {
        place: float(np.mean(list(runs.values()))) for place, runs in enumerate(measured) if runs
    }
    if not means:
        return None
    best = (max if higher else min)(means.values())
    first = [place for place, mean in means.items() if mean == best]
    return first[0] if len(first) == 1 else None


def spreads(measured: Sequence[Mapping[int, float]]) -> tuple[float, float]:
    """Return how far apart the means are, and the seeds of the value whose seeds scatter most.

    Raises ValueError where fewer than two values have two seeds.
    """
    several = [list(runs.values()) for runs in measured if len(runs) > 1]
    if len(several) < 2:
        raise ValueError("fewer than two values have two seeds")
    return float(np.ptp([np.mean(values) for values in several])), max(
        float(np.ptp(values)) for values in several
    )


def outcome(places: Sequence[Pair], best: int | None, predicted: int | None) -> str:
    """Return what the pairs say about a prediction.

    predicted: the place of the value that was to be best; None: that no two differ.
    `few`: too few seeds. `held`: it is better than each other value. `other`: some value is better
    than it. `open`: neither. For None: `differ`, two are apart; else `open`.
    """
    if any(pair.how == FEW for pair in places):
        return FEW
    apart = [pair for pair in places if pair.how == APART]
    if predicted is None:
        return "differ" if apart else "open"
    own = [pair for pair in places if predicted in (pair.first, pair.second)]
    if best == predicted and all(pair.how == APART for pair in own):
        return "held"
    better = {best} if best is not None else set()
    lost = best != predicted and any(
        pair.how == APART and better & {pair.first, pair.second} for pair in own
    )
    return "other" if lost else "open"
