"""A small canvas on which the hand draws in black and white."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from llmviz.corpus.drawn_pictures import SIDE, read_picture, write_picture
from llmviz.course.components._shared.transport import mount


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
