"""The searches of chapter "Beam search", kept for who moves a control back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from llmviz.sampling import BeamTree, Continuations, beam_search, exhaustive_search
from llmviz.ui import engine
from llmviz.ui.kept import kept
from llmviz.ui.lessons.sampling.source import Prompted


def searched(said: Prompted, width: int, depth: int, penalty: float = 0.0) -> BeamTree:
    """Return the tree of a beam search behind the prompt."""
    return _beam(*_key(said), width, depth, penalty)


@dataclass(frozen=True)
class Compared:
    """All continuations of a prompt, the best first, and what beams of some widths found of them.

    `places` holds for each width the place of its find among all; `expanded` how many beginnings it
    went on from, each with all tokens.
    """

    every: Continuations
    places: dict[int, int]
    expanded: dict[int, int]


def compared(said: Prompted, depth: int, widths: Sequence[int]) -> Compared:
    """Return all continuations of the prompt beside the finds of a beam of each width."""
    return _compared(*_key(said), depth, tuple(widths))


def _key(said: Prompted) -> tuple[Any, ...]:
    return said.bundled.name, said.bundled.version, said.ids, said.stop_id


@kept(128)
def _beam(
    name: str,
    version: str,
    ids: tuple[int, ...],
    stop_id: int | None,
    width: int,
    depth: int,
    penalty: float,
) -> BeamTree:
    model = engine.load(name).model
    return beam_search(model, list(ids), width, depth, penalty, stop_id, shown=max(2, width))


@kept(32)
def _compared(
    name: str,
    version: str,
    ids: tuple[int, ...],
    stop_id: int | None,
    depth: int,
    widths: tuple[int, ...],
) -> Compared:
    every = exhaustive_search(engine.load(name).model, list(ids), depth, stop_id=stop_id)
    trees = {width: _beam(name, version, ids, stop_id, width, depth, 0.0) for width in widths}
    places = {width: every.place(tree.tokens()) for width, tree in trees.items()}
    return Compared(every, places, {width: len(tree.hidden) for width, tree in trees.items()})
