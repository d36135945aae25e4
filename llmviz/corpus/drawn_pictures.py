"""A small picture in black and white that was drawn by hand, as text for a link, and back."""

from __future__ import annotations

from typing import Any

import numpy as np

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
