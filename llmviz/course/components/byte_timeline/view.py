"""Bytes that are alive from operation to operation, stacked by what they are for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from llmviz.course.components._shared.transport import mount, place_of

COLOURS = 6  # kinds that can be told apart


class Life(NamedTuple):
    """One tensor: its name, the number of its kind, its bytes, alive from a moment to another."""

    name: str
    kind: int
    bytes: int
    born: int
    died: int  # the first moment at which it is gone


class Section(NamedTuple):
    """A part of the time line: what goes on, in which part of the model, and where it begins."""

    phase: str
    part: str
    begins: int


def byte_timeline(
    live: np.ndarray,
    lives: Sequence[Life],
    *,
    key: str,
    kinds: Sequence[str],
    sections: Sequence[Section],
    operations: Sequence[str],
    words: Mapping[str, str],
    chosen: int | None = None,
    least: float = 1.0,
    on_change: Callable[[], None] | None = None,
) -> int | None:
    """Draw bytes (K, M) of K kinds at M moments; return the moment that was clicked.

    lives: the tensors that they are made of. kinds: their names, stacked from below. sections: the
    first begins at 0. operations: what each moment comes after. words has "name" for the picture,
    "across" for its axis, "peak" with {size}, "at" with {phase}, {part} and {operation}, "start"
    for the moment before the first operation, "all" with {size}, "more" with {count} and {size},
    and "hint". least: bytes that the axis reaches at least. Raises ValueError for data that do not
    fit.
    """
    payload = timeline_payload(live, lives, kinds, sections, operations)
    payload |= {"words": dict(words), "least": least}
    moments = payload["live"].shape[1]
    start = place_of(chosen, moments, None)
    moment = mount(
        "byte_timeline", payload, key=key, state="chosen", start=start, on_change=on_change
    )
    return place_of(moment, moments, None)


def timeline_payload(
    live: np.ndarray,
    lives: Sequence[Life],
    kinds: Sequence[str],
    sections: Sequence[Section],
    operations: Sequence[str],
) -> dict[str, Any]:
    """Return what a time line is sent, checked."""
    live = np.asarray(live)
    if live.ndim != 2 or live.shape[0] != len(kinds) or not live.shape[1]:
        raise ValueError(f"live must be ({len(kinds)}, moments); got {live.shape}")
    if not 0 < len(kinds) <= COLOURS:
        raise ValueError(f"there are colours for 1 to {COLOURS} kinds; got {len(kinds)}")
    if (live < 0).any():
        raise ValueError("bytes must not be negative")
    moments = live.shape[1]
    if len(operations) != moments:
        raise ValueError(f"{moments} moments need as many operations; got {len(operations)}")
    begins = [section.begins for section in sections]
    if not begins or begins[0] or begins != sorted(set(begins)) or begins[-1] >= moments:
        raise ValueError(f"sections must begin at 0 and rise below {moments}; got {begins}")
    for life in lives:
        if not (0 <= life.kind < len(kinds) and 0 <= life.born < life.died <= moments):
            raise ValueError(f"the life of {life.name!r} does not fit: {life}")
    names = list(dict.fromkeys(life.name for life in lives))
    number = {name: i for i, name in enumerate(names)}
    rows = [(number[life.name], life.kind, life.born, life.died) for life in lives]
    return {
        "live": live.astype(np.float32),
        "kinds": list(kinds),
        "sections": [list(section) for section in sections],
        "operations": list(operations),
        "names": names,
        "lives": np.array(rows, dtype=np.int32).reshape(len(rows), 4),
        "sizes": np.array([life.bytes for life in lives], dtype=np.float32),
    }
