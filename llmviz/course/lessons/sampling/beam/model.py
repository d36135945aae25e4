"""What beams of several widths find, looked up among all continuations that there are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from llmviz.sampling import BeamTree, Continuations

NEAR = 1e-9  # nats: totals nearer than this differ by rounding alone


@dataclass(frozen=True)
class Compared:
    """All continuations of a prompt, the best first, and what beams of some widths found of them.

    `trees` holds the search of each width, `places` the place of its text among all, from 1, and
    `expanded` how many beginnings it went on from, each with all tokens. `best` are the widths
    whose text is as probable as the best one; with ties that can be a later place than 1.
    """

    every: Continuations
    trees: dict[int, BeamTree]
    places: dict[int, int]
    expanded: dict[int, int]
    best: tuple[int, ...]


def compare(
    every: Continuations, search: Callable[[int], BeamTree], widths: Sequence[int]
) -> Compared:
    """Return what `search` of each width finds among `every` continuation of the same prompt."""
    trees = {width: search(width) for width in widths}
    places = {width: every.place(tree.tokens()) for width, tree in trees.items()}
    least = every.totals.max() - NEAR
    best = tuple(width for width, place in places.items() if every.totals[place - 1] >= least)
    expanded = {width: len(tree.hidden) for width, tree in trees.items()}
    return Compared(every, trees, places, expanded, best)


def continuation_count(vocab_size: int, length: int, *, can_end: bool = True) -> int:
    """Return how many continuations of up to `length` tokens there are.

    One of V tokens ends a text if `can_end`. A text that ends early counts once: V-1 tokens go on,
    so there are (V-1)^k beginnings of k tokens, each of which can end there, and (V-1)^length
    texts that have not ended after `length` tokens.

    >>> continuation_count(3, 2), continuation_count(3, 2, can_end=False)
    (7, 9)

    Raises ValueError: fewer than 1 token in the vocabulary, or a negative length.
    """
    if vocab_size < 1 or length < 0:
        raise ValueError(f"1 token and a length of 0 are needed; got {vocab_size} and {length}")
    if not can_end:
        return vocab_size**length
    going_on = vocab_size - 1
    return going_on**length + sum(going_on**k for k in range(length))


def taken_at(tree: BeamTree, step: int) -> tuple[int, int]:
    """Return how many continuations a search took at a step, from 1, and how many of them ended."""
    taken = [node for node in tree.nodes if node.depth == step and node.status != "pruned"]
    return len(taken), sum(node.status == "finished" for node in taken)
