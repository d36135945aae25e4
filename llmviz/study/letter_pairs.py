"""The counted letter pairs of a list of names, and a name walked through them.

The table has 27 rows and columns: 0 is the start and the end of a name, 1 to 26 are a to z.
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
