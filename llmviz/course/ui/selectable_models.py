"""Which models a lesson offers besides its own choice of bundled ones: the runs of the learner."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from llmviz.course.ui import engine, runs
from llmviz.course.ui.cached import cached
from llmviz.course.ui.notices import or_refused, warn
from llmviz.runs import store

Card = dict[str, Any]
LABEL = "my run: {model} on {corpus} ({mark})"


def offered(fits: Callable[[Card], bool], wanted: str = "") -> list[str]:
    """Return the visitor's runs and the kept ones whose card fits; a damaged one is left out.

    `wanted` is the model in force. Where it is a run that nobody lists here, such as one of a
    visit that a link brings back, it is offered too as long as it exists.
    """
    names = engine.own()
    if wanted.startswith(store.PREFIX) and wanted not in names:
        names.append(wanted)
    return [name for name in names if (card := _card_in_list(name)) and fits(card)]


def bundled_fitting(fits: Callable[[Card], bool]) -> tuple[tuple[str, Card], ...]:
    """Return the bundled models whose card fits, with their cards, in alphabetical order.

    fits: a function of a module; it is asked once for each state of the cards.
    """
    return _bundled(fits, engine.bundle())


@cached(64)
def _bundled(fits: Callable[[Card], bool], state: object) -> tuple[tuple[str, Card], ...]:
    cards = ((name, card_of(name)) for name in engine.names())  # a damaged one is not offered
    return tuple((name, card) for name, card in cards if card and fits(card))


def card_of(name: str) -> Card | None:
    """Return a model's card, or None where it is damaged or gone."""
    try:
        return engine.card(name)
    except ValueError:
        return None


_card_in_list = runs.recently(card_of)


def load(name: str | None, *, tell: bool = True) -> engine.Bundled | None:
    """Return the model that was picked, after saying what was noted when it was loaded.

    None, after one clear line, where it cannot be loaded: a run may be deleted in between. None as
    a name is none.
    tell: say what was noted; not where the page has said it already.
    """
    bundled = None if name is None else or_refused(engine.load, name)
    if bundled is None:
        return None
    for note in bundled.notes if tell else ():
        warn(note)
    return bundled


@lru_cache(256)  # a menu knows its entries by these words, so they stay when a run is deleted
def label(name: str) -> str:
    """Return how a menu calls a model: a visitor's run by what was trained, others by name."""
    card = card_of(name) if store.is_private(name) else None
    if card is None:
        return name.removeprefix(store.PREFIX)
    plain, step = store.split_name(name)
    known = runs.known(plain)  # whose page calls it so, too
    called = (
        runs.label(known) if known else LABEL.format(**card, mark=plain.removeprefix("my-")[:4])
    )
    return called + (f", step {step:,}" if step is not None else "")
