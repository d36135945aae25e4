"""A film of texts that fill up place by place, side by side."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from llmviz.course.components._shared.transport import mount, place_of


@dataclass(frozen=True)
class Filling:
    """A text of T places, and what is said of it at each moment.

    pieces (T,): what stands in each place at last. when (T,): the moment from which on it stands
    there. notes (T,): a line about each. said: a sentence for each moment, the one before all steps
    first. open: whether a place that is not filled yet is seen.
    """

    name: str
    pieces: Sequence[str]
    when: Sequence[int]
    notes: Sequence[str]
    said: Sequence[str]
    open: bool = True


def fill_film(
    texts: Sequence[Filling],
    *,
    key: str,
    hidden: str,
    step: int = -1,
    on_change: Callable[[], None] | None = None,
) -> int:
    """Draw texts that fill up in step, and return the moment settled on.

    hidden: stands in an open place. step: where to begin, −1 for the end. Raises ValueError for
    data that do not fit.
    """
    payload = film_payload(texts) | {"hidden": hidden}
    last = len(texts[0].said) - 1
    start = last if step < 0 else min(step, last)
    reported = mount("fill_film", payload, key=key, state="step", start=start, on_change=on_change)
    return place_of(reported, last + 1, start)


def film_payload(texts: Sequence[Filling]) -> dict[str, Any]:
    """Return what the texts are sent, checked."""
    if not texts or not texts[0].said:
        raise ValueError("a film needs a text and a moment")
    last = len(texts[0].said) - 1
    for text in texts:
        places = len(text.pieces)
        if {len(text.when), len(text.notes)} != {places} or len(text.said) != last + 1:
            raise ValueError(
                f"{text.name!r} needs {places} moments and notes, and {last + 1} sentences"
            )
        if any(not 1 <= moment <= last for moment in text.when):
            raise ValueError(f"places are filled in steps 1 to {last}; got {list(text.when)}")
    return {
        "texts": [
            {
                "name": text.name,
                "pieces": list(text.pieces),
                "when": [int(moment) for moment in text.when],
                "notes": list(text.notes),
                "said": list(text.said),
                "open": text.open,
            }
            for text in texts
        ]
    }
