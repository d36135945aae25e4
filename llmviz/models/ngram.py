"""Names by counting: the next letter from the n letters before it, for any n up to a longest one.

M contexts, V = 27 symbols: 0 is the start and the end of a name, 1 to 26 are the letters a to z.
A context of n symbols is a row of a table with 27ⁿ rows. Only the rows that were seen are stored.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from llmviz.corpus.counts import LETTERS

V = len(LETTERS)
ADD_ONE, BACK_OFF, KNESER_NEY = METHODS = ("add-one", "back-off", "kneser-ney")
LONGEST = 12  # 27 ** 13 still fits into 63 bits


@dataclass(frozen=True)
class GramTable:
    """How often each context was followed by each symbol.

    grams (G,) int64: context · V + symbol, rising, each once. counts (G,): how often.
    """

    grams: np.ndarray
    counts: np.ndarray

    def rows(self, contexts: np.ndarray) -> np.ndarray:
        """Return the counts (M, V) after contexts (M,); zeros for a context that was not seen."""
        wanted = contexts[:, None] * V + np.arange(V)
        at = np.searchsorted(self.grams, wanted).clip(max=len(self.grams) - 1)
        return np.where(self.grams[at] == wanted, self.counts[at], 0)

    def contexts(self) -> np.ndarray:
        """Return the contexts that were seen, each once."""
        return np.unique(self.grams // V)

    def discount(self) -> float:
        """Return n₁ ÷ (n₁ + 2·n₂), where n₁ grams were seen once and n₂ twice; ¾ where n₁ is 0.

        Reference: Ney, Essen and Kneser 1994, "On structuring probabilistic dependences".
        """
        once, twice = int((self.counts == 1).sum()), int((self.counts == 2).sum())
        return once / (once + 2 * twice) if once else 0.75


class NGrams:
    """Tables of the symbols after contexts of 0 to `longest` symbols, counted in names.

    Raises ValueError for no names, a name with another character than a to z, or a `longest`
    outside 1 to 12.
    """

    def __init__(self, names: Sequence[str], longest: int) -> None:
        if not 1 <= longest <= LONGEST:
            raise ValueError(f"the longest context must be 1 to {LONGEST} letters; got {longest}")
        if not names:
            raise ValueError("counting needs at least one name")
        self.longest = longest
        contexts, symbols = positions(names, longest)
        self.letters = len(symbols)
        self.raw = []
        for n in range(longest + 1):
            grams, counts = np.unique((contexts % V**n) * V + symbols, return_counts=True)
            self.raw.append(GramTable(grams, counts))
        self.continued = [self._continued(n) for n in range(longest)]

    def _continued(self, n: int) -> GramTable:
        """In how many contexts of n + 1 symbols each gram of n was seen: its continuation count.

        A context that begins with the start of a name has nothing before it, and keeps its counts.
        """
        raw = self.raw[n]
        grams, counts = np.unique(self.raw[n + 1].grams % V ** (n + 1), return_counts=True)
        assert np.array_equal(grams, raw.grams)
        if n:
            at_start = raw.grams // V**n == 0
            counts = np.where(at_start, raw.counts, counts)
        return GramTable(grams, counts)

    def seen(self, n: int) -> int:
        """Return how many different contexts of n symbols were seen."""
        return len(self.raw[n].contexts())

    def rows(self, contexts: np.ndarray, n: int, method: str) -> np.ndarray:
        """Return P(next | the last n symbols of each context), (M, V); each row sums to 1.

        contexts (M,): the symbols before, as digits of a number in base 27 (see `positions`).
        method: "add-one" adds 1 to every count of the row. "back-off" takes a discount from each
        count and gives it to the symbols that were not seen after the context, in the proportions
        of the next shorter context. "kneser-ney" gives it to all symbols, and a shorter context
        counts in how many longer ones a symbol was seen after it, not how often.
        Raises ValueError for an unknown method or an n outside 0 to the longest.

        Reference: Katz 1987 (back-off) with the absolute discount of Ney, Essen and Kneser 1994;
        Kneser and Ney 1995, in the interpolated form of Chen and Goodman 1998, equation 24, with
        one discount for each length.
        """
        if method not in METHODS:
            raise ValueError(f"method must be one of {', '.join(METHODS)}; got {method!r}")
        if not 0 <= n <= self.longest:
            raise ValueError(f"n must be 0 to {self.longest}; got {n}")
        contexts = np.asarray(contexts, dtype=np.int64)
        if method == ADD_ONE:
            counts = self.raw[n].rows(contexts % V**n) + 1.0
            return counts / counts.sum(1, keepdims=True)
        step = self._back_off if method == BACK_OFF else self._interpolate
        below = np.full((len(contexts), V), 1 / V)
        for length in range(n + 1):
            top = method == BACK_OFF or length == n
            table = self.raw[length] if top else self.continued[length]
            below = step(table, contexts % V**length, below)
        return below

    @staticmethod
    def _interpolate(table: GramTable, contexts: np.ndarray, below: np.ndarray) -> np.ndarray:
        counts = table.rows(contexts)
        total = counts.sum(1, keepdims=True)
        discount = table.discount()
        freed = discount * (counts > 0).sum(1, keepdims=True)
        kept = np.maximum(counts - discount, 0.0)
        return np.where(total > 0, (kept + freed * below) / np.maximum(total, 1), below)

    @staticmethod
    def _back_off(table: GramTable, contexts: np.ndarray, below: np.ndarray) -> np.ndarray:
        counts = table.rows(contexts)
        total = counts.sum(1, keepdims=True)
        seen = counts > 0
        freed = table.discount() * seen.sum(1, keepdims=True)
        unseen = np.where(seen, 0.0, below)
        room = unseen.sum(1, keepdims=True)
        # Where every symbol was seen nobody needs what a discount frees.
        shared = (room > 0) & (total > 0)
        kept = np.where(shared, counts - table.discount() * seen, counts) / np.maximum(total, 1)
        given = freed / np.maximum(total, 1) * unseen / np.where(room > 0, room, 1.0)
        return np.where(total > 0, kept + np.where(shared, given, 0.0), below)

    def chances(self, names: Sequence[str], n: int, method: str) -> np.ndarray:
        """Return the probability of each letter of names and of each name's end, (T,)."""
        contexts, symbols = positions(names, self.longest)
        different, at = np.unique(contexts % V**n, return_inverse=True)
        return self.rows(different, n, method)[at, symbols]

    def loss(self, names: Sequence[str], n: int, method: str) -> float:
        """Return the mean loss of names, their ends included, in nats per letter."""
        return float(-np.log(self.chances(names, n, method)).mean())

    def known(self, names: Sequence[str], n: int) -> float:
        """Return the share of the letters of names before which a context stands that was seen."""
        contexts, _ = positions(names, self.longest)
        return float(np.isin(contexts % V**n, self.raw[n].contexts()).mean())


def positions(names: Sequence[str], n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return for each letter of names, and for each end, the n symbols before it and its number.

    Both are int64 (T,). The symbols before are the digits of a number in base 27, the last symbol
    last; before a name begins there are start symbols, 0.
    Raises ValueError for a name with another character than a to z.

    >>> [list(map(int, part)) for part in positions(["ab"], 2)]
    [[0, 1, 29], [1, 2, 0]]
    """
    symbols = []
    for name in names:
        ids = [LETTERS.find(letter) for letter in name]
        if ids and min(ids) < 1:
            raise ValueError(f"a name must hold the letters a to z only; got {name!r}")
        symbols += [*ids, 0]
    nexts = np.array(symbols, dtype=np.int64)
    ends = nexts == 0
    since = np.arange(len(nexts)) - np.maximum.accumulate(
        np.where(np.concatenate([[True], ends[:-1]]), np.arange(len(nexts)), 0)
    )  # how many letters of its name stand before a position
    contexts = np.zeros(len(nexts), dtype=np.int64)
    for back in range(1, n + 1):
        before = np.concatenate([np.zeros(back, np.int64), nexts])[: len(nexts)]
        contexts += np.where(since >= back, before, 0) * V ** (back - 1)
    return contexts, nexts
