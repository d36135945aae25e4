"""Attention in tiles, played: the tile at work, what its rows know after it, the output so far."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from llmviz.course.components._shared.transport import mount, place_of

WORDS = (
    "output",
    "scale",
    "now",
    "done",
    "later",
    "skipped",
    "masked",
    "row",
    "maximum_before",
    "maximum",
    "factor",
    "sum_before",
    "sum",
    "blind",
    "traffic",
)
"""What the picture says: each of these needs a text."""
ROWS = ("maximum_before", "maximum", "rescale", "total_before", "total")


def tile_film(
    names: Sequence[str],
    tiles: Any,
    *,
    key: str,
    captions: Sequence[str],
    words: Mapping[str, str],
    step: int = 0,
    on_change: Callable[[], None] | None = None,
) -> int:
    """Draw attention of T tokens in N tiles and return the tile settled on, from 0 to N − 1.

    names: of the T tokens. tiles: arrays as `TiledText` of the chapter on flash attention has them.
    captions: a sentence for each tile. words: a text for each of WORDS; "traffic" holds {read} and
    {written}. Raises ValueError for data that do not fit.
    """
    payload = film_payload(names, tiles, captions, words)
    last = len(captions) - 1
    start = max(0, min(step, last))
    reported = mount("tile_film", payload, key=key, state="step", start=start, on_change=on_change)
    return place_of(reported, last + 1, start)


def film_payload(
    names: Sequence[str], tiles: Any, captions: Sequence[str], words: Mapping[str, str]
) -> dict[str, Any]:
    """Return what a film is sent, checked."""
    t, n = len(names), len(captions)
    if missing := set(WORDS) - set(words):
        raise ValueError(f"words lack {', '.join(sorted(missing))}")
    side = np.shape(tiles.maximum)[-1]
    wanted = {"scores": (t, t), "exponentials": (t, t), "tiles": (n, 4), "read": (n,)}
    wanted |= {"written": (n,)} | dict.fromkeys(ROWS, (n, side))
    for name, shape in wanted.items():
        if np.shape(getattr(tiles, name)) != shape or 0 in shape:
            raise ValueError(f"{name} must be {shape}; got {np.shape(getattr(tiles, name))}")
    if np.shape(tiles.output)[:2] != (n, side) or np.ndim(tiles.output) != 3:
        raise ValueError(f"output must be ({n}, {side}, D); got {np.shape(tiles.output)}")
    if not np.isfinite(tiles.output).all():
        raise ValueError("the output must be finite")
    floats = ("scores", "exponentials", "output", *ROWS)
    return {
        "names": list(names),
        **{name: np.ascontiguousarray(getattr(tiles, name), np.float32) for name in floats},
        **{
            name: np.ascontiguousarray(getattr(tiles, name), np.int32)
            for name in ("tiles", "read", "written")
        },
        "captions": list(captions),
        "words": dict(words),
    }
