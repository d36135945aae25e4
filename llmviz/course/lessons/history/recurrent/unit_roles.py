"""Units of a recurrent model that count letters, or remember the first one; found by search.

N names, T letters of the longest one, H hidden width.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from llmviz.models.base import LanguageModel
    from llmviz.tokenizers import Tokenizer

PARTS = 12  # into which the values of a unit are parted to guess from them
LATER = 3  # letters that must lie between the first one and where it is looked for


@dataclass(frozen=True)
class UnitRoles:
    """The units of a state that do two things best, and how well they do them on other names.

    Both were chosen on one half of the names and are measured on the other. `correlation` is that
    of the counting unit's value with the number of letters read, from −1 to 1. `explained` is the
    share of the remembering unit's variance that the first letter explains, `LATER` letters later
    and after that; `guessed` is how often the first letter is guessed from that unit alone,
    `usual` how often it is the most frequent first letter, and `together` how often a linear
    reading of all units is right.
    """

    counts: int
    correlation: float
    remembers: int
    explained: float
    guessed: float
    usual: float
    together: float
    names: int  # that were measured on
    correlations: np.ndarray  # (H,) on the names of the search
    shares: np.ndarray  # (H,) on the names of the search

    @property
    def tells(self) -> bool:
        """Whether guessing from the remembering unit beats the most frequent letter clearly.

        That is by two standard errors of a share, with the names as independent cases.
        """
        return self.guessed - self.usual > 2 * (self.usual * (1 - self.usual) / self.names) ** 0.5


def correlations(values: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Return how each column of values (M, H) goes with places (M,): Pearson's r, 0 if constant."""
    centred, place = values - values.mean(0), places - places.mean()
    size = np.sqrt((centred**2).sum(0) * (place**2).sum())
    return np.divide(place @ centred, size, out=np.zeros(values.shape[1]), where=size > 0)


def explained(values: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """Return the share of each column's variance that lies between groups (the correlation ratio).

    values (M, H), groups (M,). 0 where a column is constant. Reference: Fisher 1925, chapter VII.
    """
    centred = values - values.mean(0)
    between = np.zeros(values.shape[1])
    for group in np.unique(groups):
        of_group = centred[groups == group]
        between += len(of_group) * of_group.mean(0) ** 2
    whole = (centred**2).sum(0)
    return np.divide(between, whole, out=np.zeros(len(whole)), where=whole > 0)


def guessed(train: np.ndarray, groups: np.ndarray, test: np.ndarray, right: np.ndarray) -> float:
    """Return how often a group is guessed rightly from one number a row.

    The numbers of train are parted into `PARTS` parts of about equal size; the guess is the group
    that is most frequent in the part that a number of test falls into.
    """
    borders = np.quantile(train, np.arange(1, PARTS) / PARTS)
    parts, tested = np.searchsorted(borders, train), np.searchsorted(borders, test)
    usual = np.bincount(groups).argmax()
    best = np.full(PARTS, usual)
    for part in np.unique(parts):
        best[part] = np.bincount(groups[parts == part]).argmax()
    return float((best[tested] == right).mean())


def linear_guess(train: np.ndarray, groups: np.ndarray, test: np.ndarray) -> np.ndarray:
    """Return the group that a linear reading of all columns gives each row of test (M, H).

    One weight a column and group, and a bias, by least squares on marks of 0 and 1, with a small
    ridge so that columns that go together do no harm.
    """
    known = np.unique(groups)
    ones = [np.concatenate((x, np.ones((len(x), 1))), axis=1) for x in (train, test)]
    marks = (groups[:, None] == known).astype(float)
    square = ones[0].T @ ones[0] + 1e-3 * len(train) * np.eye(ones[0].shape[1])
    weights = np.linalg.solve(square, ones[0].T @ marks)
    return known[(ones[1] @ weights).argmax(1)]


def find_roles(
    model: LanguageModel, tokenizer: Tokenizer, names: Sequence[str], part: str = "hidden"
) -> UnitRoles:
    """Search the units of a state for the one that counts and the one that remembers.

    names: of letters a to z; those with no letter `LATER` after the first, and longer than the
    context, are left out. part: hidden, or cell of an LSTM.
    Raises ValueError where fewer than 20 names are left.
    """
    import torch

    from llmviz.trace import record

    fitting = [name for name in names if LATER < len(name) < model.context_length]
    if len(fitting) < 20:
        raise ValueError(f"at least 20 names of {LATER + 1} letters are needed; got {len(fitting)}")
    start, letters = tokenizer.encode_from_start(""), [tokenizer.encode(name) for name in fitting]
    longest = max(map(len, letters))
    rows = [[*start, *ids, *[ids[-1]] * (longest - len(ids))] for ids in letters]
    with torch.inference_mode(), record(f"layers.0.{part}") as trace:
        model(torch.tensor(rows))
    states = trace[f"layers.0.{part}"][:, len(start) :].double().numpy()  # (N, T, H), from letter 1
    length = np.array(list(map(len, letters)))[:, None]
    place = np.broadcast_to(np.arange(1, longest + 1), states.shape[:2])
    first = np.broadcast_to(np.array([ids[0] for ids in letters])[:, None], states.shape[:2])
    read, later = place <= length, (place <= length) & (place > LATER)
    half = (np.arange(len(fitting)) % 2 == 0)[:, None]

    def of(mask: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return states[mask], place[mask].astype(float), first[mask]

    values, places, _ = of(read & half)
    linear = correlations(values, places)
    counts = int(np.abs(linear).argmax())
    later_values, _, firsts = of(later & half)
    shares = explained(later_values, firsts)
    remembers = int(shares.argmax())
    other, other_places, _ = of(read & ~half)
    other_later, _, other_firsts = of(later & ~half)
    usual = np.bincount(firsts).argmax()
    return UnitRoles(
        counts,
        float(correlations(other[:, [counts]], other_places)[0]),
        remembers,
        float(explained(other_later[:, [remembers]], other_firsts)[0]),
        guessed(later_values[:, remembers], firsts, other_later[:, remembers], other_firsts),
        float((other_firsts == usual).mean()),
        float((linear_guess(later_values, firsts, other_later) == other_firsts).mean()),
        int((~half).sum()),
        linear,
        shares,
    )
