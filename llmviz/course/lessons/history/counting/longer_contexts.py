"""What counting costs and brings as the context grows: on the bundled names, split as for training.

The names that models of names learn from are counted; the others are what is told in advance.
"""

from __future__ import annotations

from dataclasses import dataclass

from llmviz.models.ngram import METHODS, NGrams, V


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
    counted_names: int
    held_out: tuple[str, ...]
    rows: tuple[ContextRow, ...]

    def best(self, method: str) -> ContextRow:
        """The length with the lowest held-out loss; the shorter one of two that are equal."""
        return min(self.rows, key=lambda row: (row.losses[method], row.n))


def longer_contexts(longest: int) -> LongerContexts:
    """Count contexts of 1 to `longest` letters in the bundled names, and measure each method."""
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
        for n in range(1, longest + 1)
    )
    return LongerContexts(grams, len(learned), held_out, rows)
