"""The word-embedding association test: do two sets of words lie nearer to two others?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from llmviz.similarity.measures import unit

PERMUTATIONS = 10_000


@dataclass(frozen=True)
class Association:
    """effect: difference of the mean associations in standard deviations, from −2 to 2.

    p_value: how often words shared out by chance differ at least as much, one-sided.
    """

    effect: float
    p_value: float


def association(vectors: np.ndarray, attributes: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    """Return the mean cosine of each vector (N, C) to one set of vectors minus that to another."""
    sets = [unit(attribute) for attribute in attributes]
    own = unit(vectors)
    return (own @ sets[0].T).mean(1) - (own @ sets[1].T).mean(1)


def association_test(
    first: np.ndarray,
    second: np.ndarray,
    attributes: tuple[np.ndarray, np.ndarray],
    permutations: int = PERMUTATIONS,
    seed: int = 0,
) -> Association:
    """Say how much nearer one set of vectors (N, C) lies to an attribute than another does.

    first, second: the two sets of words that are compared. attributes: vectors of the two sets of
    words that they are compared with. The p-value comes from drawn permutations, which are counted
    with the one that is tested, so it is never 0.
    Reference: Caliskan, Bryson and Narayanan 2017, "Semantics derived automatically from language
    corpora contain human-like biases", equations of the supplement.
    Raises ValueError for an empty set, or where all associations are equal.
    """
    if not len(first) or not len(second) or not all(len(attribute) for attribute in attributes):
        raise ValueError("each of the four sets needs at least one word")
    both = association(np.concatenate([first, second]), attributes)
    spread = both.std(ddof=1)
    if not spread > 0:
        raise ValueError("all words are associated alike, so nothing can be compared")
    split = len(first)
    effect = (both[:split].mean() - both[split:].mean()) / spread
    chance = np.random.default_rng(seed)
    drawn = chance.permuted(np.tile(both, (permutations, 1)), axis=1)
    measured = both[:split].sum() - both[split:].sum()
    others = drawn[:, :split].sum(1) - drawn[:, split:].sum(1)
    as_far = int((others >= measured - 1e-12).sum())
    return Association(float(effect), (as_far + 1) / (permutations + 1))


def without_direction(vectors: np.ndarray, direction: np.ndarray) -> np.ndarray:
    """Return vectors (N, C) without what they have along a direction (C,)."""
    along = direction / np.linalg.norm(direction)
    return vectors - np.outer(vectors @ along, along)
