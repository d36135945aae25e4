"""A small canvas on which the hand draws in black and white, and its picture as text for a link."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from llmviz.course.components._shared.transport import mount

SIDE = 20  # cells


def write_picture(picture: np.ndarray) -> str:
    """Return a picture of 0 and 1 as hexadecimal digits, four cells a digit, row by row."""
    return np.packbits(picture.astype(bool).ravel()).tobytes().hex()


def read_picture(raw: Any) -> np.ndarray | None:
    """Return the picture that `write_picture` wrote, (SIDE, SIDE); None for anything else."""
    if not isinstance(raw, str) or len(raw) != SIDE * SIDE // 4:
        return None
    try:
        cells = np.unpackbits(np.frombuffer(bytes.fromhex(raw), dtype=np.uint8))
    except ValueError:
        return None
    return cells[: SIDE * SIDE].reshape(SIDE, SIDE)


def draw_pad(
    picture: np.ndarray,
    *,
    key: str,
    words: Mapping[str, str],
    on_change: Callable[[], None] | None = None,
) -> np.ndarray:
    """Draw a picture (SIDE, SIDE) of 0 and 1 that the hand can change; return it as it is now.

    `words` has "label", "clear" and "hint". Raises ValueError for another shape.
    """
    if picture.shape != (SIDE, SIDE):
        raise ValueError(f"a picture has {SIDE} rows and {SIDE} columns; got {picture.shape}")
    written = write_picture(picture)
    payload = {"side": SIDE, "words": dict(words)}
    drawn = mount("draw_pad", payload, key=key, state="cells", start=written, on_change=on_change)
    now = read_picture(drawn)
    return picture if now is None else now
