"""A table of positions: every number as a colour, any column and any row as a curve."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from llmviz.course.components._shared.transport import Stored, mount


@dataclass(frozen=True, eq=False)
class PositionsPicture:
    """What the picture of a table of positions needs, made once: how large it is, and its numbers.

    `shape` is (T, C); `stored` holds the table and how alike each position is to each.
    """

    shape: tuple[int, int]
    stored: Stored


def positions_view(
    picture: PositionsPicture,
    *,
    key: str,
    words: Mapping[str, str],
    place: tuple[int, int] = (0, 0),
    on_place: Callable[[], None] | None = None,
    wave: tuple[str, int] | None = None,
) -> tuple[int, int]:
    """Draw a table of positions; return the (position, column) that the learner settled on.

    The column under the pointer is drawn as a curve over positions, and its position's likeness to
    each over distances. ``words``: value, column, curve, alike, position, distance, hint, wave.

    wave: "sinusoidal" or "rotary", and the base, where the numbers come from that formula; the
    arithmetic of the cell under the pointer is then written out.
    """
    t, c = picture.shape
    start = [max(0, min(place[0], t - 1)), max(0, min(place[1], c - 1))]
    payload = {"words": dict(words), "wave": wave}
    reported = mount(
        "positions_view",
        payload,
        picture.stored,
        key=key,
        state="place",
        start=start,
        on_change=on_place,
    )
    match reported:
        case [int(row), int(column)] if 0 <= row < t and 0 <= column < c:
            return row, column
    return start[0], start[1]


def positions_picture(table: np.ndarray, similarity: np.ndarray) -> PositionsPicture:
    """Return the picture of a table (T, C); ``similarity`` (T, T) is how alike positions are.

    Raises ValueError for data that do not fit.
    """
    table = np.asarray(table, dtype=np.float32)
    similarity = np.asarray(similarity, dtype=np.float32)
    if table.ndim != 2 or 0 in table.shape:
        raise ValueError(f"the table must be (positions, columns); got {table.shape}")
    if similarity.shape != (len(table), len(table)):
        raise ValueError(f"similarity must be {len(table)} by {len(table)}; got {similarity.shape}")
    if not (np.isfinite(table).all() and np.isfinite(similarity).all()):
        raise ValueError("positions must be finite numbers")
    limit = float(np.abs(table).max()) or 1.0
    stored = Stored({"table": table, "limit": limit, "similarity": similarity})
    return PositionsPicture(table.shape, stored)
