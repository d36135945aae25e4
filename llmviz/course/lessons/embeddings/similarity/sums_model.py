"""Analogies whose answer is known: what a table of vectors makes of them.

V rows, C columns.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from llmviz.corpus.probes import RELATIONS, analogies
from llmviz.similarity import (
    AnalogyScores,
    Neighbours,
    VectorTable,
    analogy,
    pairwise,
    score_analogies,
)


@lru_cache(maxsize=32)
def candidates(
    table: VectorTable, a: int, b: int, c: int, *, exclude_inputs: bool = True
) -> Neighbours:
    """Return every row that the analogy a − b + c may come to, the nearest first.

    Raises ValueError: one of the three rows is zero, or their sum.
    """
    return analogy(table.exact, a, b, c, None, exclude_inputs=exclude_inputs)


@lru_cache(maxsize=64)
def questions(table: VectorTable, relation: str) -> tuple[tuple[int, int, int, int], ...]:
    """Return the rows (a, b, c, d) of every known analogy whose words have a row of their own.

    a is to b as c is to d.
    """
    row = table.rows_of_words
    return tuple(
        (row[a], row[b], row[c], row[d])
        for a, b, c, d in analogies(relation)
        if row.keys() >= {a, b, c, d}
    )


def pairs_of(table: VectorTable, relation: str) -> set[tuple[int, int]]:
    """Return the rows of the known pairs of a relation that a table has both words of."""
    return {four[:2] for four in questions(table, relation)}


def known_pairs(relation: str) -> int:
    """Return how many pairs of a relation are known, whether or not a table has their words."""
    return len({four[:2] for four in analogies(relation)})


@lru_cache(maxsize=64)
def scores(
    table: VectorTable, relation: str, *, exclude_inputs: bool = True, step: bool = True
) -> AnalogyScores:
    """Return how the known analogies of a relation come out.

    Raises ValueError: there is none that the table has all words of.
    """
    return score_analogies(
        table.exact, questions(table, relation), exclude_inputs=exclude_inputs, step=step
    )


def known_answer(rows: list[int], table: VectorTable) -> tuple[list[int], int] | None:
    """Return the known answer to the three words of a sum, and the words as the pairs ask it.

    The sum is the same with the first and the last word exchanged. None where it is not known.
    """
    known = {four[:3]: four[3] for relation in RELATIONS for four in questions(table, relation)}
    for c, a, b in (rows, rows[::-1]):
        if (a, b, c) in known:
            return [c, a, b], known[a, b, c]
    return None


def mean_step_cosine(table: VectorTable, relation: str) -> float:
    """Return the mean cosine of the steps from one word of a pair to the other, over all pairs.

    Raises ValueError: two words of a pair have the same row, so that there is no step.
    """
    pairs = sorted(pairs_of(table, relation))
    steps = np.array([table.matrix[b] - table.matrix[a] for a, b in pairs])
    return float(pairwise(steps)[np.triu_indices(len(steps), 1)].mean())
