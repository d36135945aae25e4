"""The counted letter pairs of a list of names, and a name walked through them.

The table has 27 rows and columns: 0 is the start and the end of a name, 1 to 26 are a to z.
V symbols.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from llmviz.corpus.counts import LETTERS


@dataclass(frozen=True)
class PairStep:
    """One letter of a name in the table.

    first, second: the pair. seen: how often it was counted, of all pairs with that first letter.
    chance: seen / of_all. product: of all chances up to here. loss: −ln chance, in nats.
    """

    first: str
    second: str
    seen: int
    of_all: int
    chance: float
    product: float
    loss: float


def probabilities(counts: np.ndarray, added: float = 0.0) -> np.ndarray:
    """Return P(next | last), (V, V): each row divided by its sum; a row without counts is uniform.

    added: a number added to every count first.
    """
    smooth = counts + float(added)
    totals = smooth.sum(axis=1, keepdims=True)
    uniform = np.full_like(smooth, 1 / len(smooth))
    return np.divide(smooth, totals, out=uniform, where=totals > 0)


def one_hot_fit(counts: np.ndarray) -> np.ndarray:
    """Fit the next letter's one-hot row from the last letter's, by least squares: b (V, V).

    The normal equations have XᵀX, a diagonal of how often each letter came first, and Xᵀy, the
    counts: both are known without writing X down. Raises ValueError for a letter that never came
    first, whose row of b would be free.
    """
    totals = counts.sum(axis=1)
    if not totals.all():
        raise ValueError(f"{LETTERS[int(totals.argmin())]!r} never came first")
    return np.linalg.solve(np.diag(totals.astype(float)), counts.astype(float))


def average_loss(counts: np.ndarray, added: float = 0.0) -> float:
    """Return the loss of the counted table on the pairs that were counted, in nats per letter."""
    seen = counts > 0
    table = probabilities(counts, added)
    return float(-(counts[seen] * np.log(table[seen])).sum() / counts.sum())


def walk(counts: np.ndarray, name: str) -> list[PairStep]:
    """Return the pairs of a name of the letters a to z, from its start to its end."""
    steps: list[PairStep] = []
    product = 1.0
    symbols = [0, *(LETTERS.index(letter) for letter in name), 0]
    for first, second in pairwise(symbols):
        seen, of_all = int(counts[first, second]), int(counts[first].sum())
        chance = seen / of_all if of_all else 1 / len(counts)
        product *= chance
        loss = -math.log(chance) if chance else math.inf
        steps.append(PairStep(LETTERS[first], LETTERS[second], seen, of_all, chance, product, loss))
    return steps


@dataclass(frozen=True)
class Throw:
    """One letter drawn by a random number.

    first: the letter before. u: the number, from 0 to 1. start, end: the interval of the letter
    that u fell into; it is as long as the letter's probability. letter: the one drawn.
    """

    first: str
    u: float
    start: float
    end: float
    letter: str


def sample_name(table: np.ndarray, seed: int, longest: int = 30) -> list[Throw]:
    """Write a name by the dice: one random number a letter, until the end is drawn.

    table (V, V): probabilities, rows that sum to 1. The intervals of a row stand in the order of
    its columns. longest: letters after which it stops all the same.
    """
    chance = np.random.default_rng(seed)
    throws: list[Throw] = []
    row = 0
    while len(throws) < longest:
        ends = np.cumsum(table[row])
        u = float(chance.random())
        column = min(
            int(np.searchsorted(ends, u, side="right")), int(np.flatnonzero(table[row])[-1])
        )
        start = float(ends[column] - table[row, column])
        letter = LETTERS[column]
        throws.append(Throw(LETTERS[row], u, start, float(ends[column]), letter))
        if column == 0:
            break
        row = column
    return throws


def fall(row: np.ndarray, count: int, seed: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    """Let `count` random numbers fall on a strip cut by a row of probabilities (V,).

    Returns the numbers (count,), from 0 to 1, and which pieces they fell on (count,).
    """
    numbers = np.random.default_rng(seed).random(count)
    last = int(np.flatnonzero(row)[-1])
    return numbers, np.minimum(np.searchsorted(np.cumsum(row), numbers, side="right"), last)
