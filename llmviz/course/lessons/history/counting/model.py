"""What counting names gives: tables for longer contexts, and the table of pairs, learned.

S steps, V symbols. Torch is imported on first use.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from llmviz.corpus.counts import count_letter_pairs
from llmviz.evaluation.invented_names import names_learned_from
from llmviz.models.ngram import METHODS, NGrams, V

RATE = 0.5  # of Adam


def learned_pairs() -> np.ndarray:
    """Count the letter pairs of the names that all models of this lesson learn from, (V, V)."""
    return count_letter_pairs(names_learned_from())


@dataclass(frozen=True)
class ContextRow:
    """A context of n letters.

    rows: 27ⁿ, of the table. seen: how many of them were ever counted. known: the share of the
    held-out letters that stand after a context that was seen. losses: of the held-out names, nats
    per letter, by method.
    """

    n: int
    rows: int
    seen: int
    known: float
    losses: dict[str, float]


@dataclass(frozen=True)
class LongerContexts:
    """The tables for each length, and the names behind them."""

    grams: NGrams
    held_out: tuple[str, ...]
    rows: tuple[ContextRow, ...]

    def best(self, method: str) -> ContextRow:
        """The length with the lowest held-out loss; the shorter one of two that are equal."""
        return min(self.rows, key=lambda row: (row.losses[method], row.n))


def longer_contexts(longest: int) -> LongerContexts:
    """Count contexts of 0 to `longest` letters in the bundled names, and measure each method."""
    from llmviz.corpus import load_corpus

    learned, held_out = (tuple(part) for part in load_corpus("names").split(0.1, 0))
    grams = NGrams(learned, longest)
    rows = tuple(
        ContextRow(
            n,
            V**n,
            grams.seen(n),
            grams.known(held_out, n),
            {method: grams.loss(held_out, n, method) for method in METHODS},
        )
        for n in range(longest + 1)
    )
    return LongerContexts(grams, held_out, rows)


@dataclass(frozen=True)
class TableDescent:
    """The network before the first step and after each.

    tables (S + 1, V, V): its probabilities. losses (S + 1,): nats per letter on all pairs. target
    (V, V): the counted shares. floor: the loss of the counted table, which no table can beat.
    """

    tables: np.ndarray
    losses: np.ndarray
    target: np.ndarray
    floor: float


def table_descent(steps: int) -> TableDescent:
    """Train 27 × 27 logits, all zero at the start, on all pairs at each step, with Adam."""
    import torch

    from llmviz.training.descent import descend
    from llmviz.training.optimizers import Hyper
    from llmviz.training.surfaces import BigramLoss

    bigram = BigramLoss(torch.from_numpy(learned_pairs()).to(torch.float64))
    rate = torch.tensor([RATE], dtype=torch.float64)
    given = bigram.height, bigram.gradient, bigram.start(), rate, steps, Hyper(beta2=0.99)
    way = descend("adam", *given)
    tables = way.path[0].unflatten(-1, (V, V)).softmax(-1)
    target = bigram.counts / bigram.counts.sum(1, keepdim=True)
    return TableDescent(tables.numpy(), way.losses[0].numpy(), target.numpy(), bigram.floor)
