"""Two vectors as arrows in their plane."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from llmviz.course.components._shared.transport import pack, renderer


def arrows(
    points: np.ndarray,
    names: Sequence[str],
    gap: str,
    *,
    axes: tuple[str, str],
    key: str,
    words: Mapping[str, str],
) -> None:
    """Draw two vectors (2, 2) as arrows from one point, and `gap` at the line between their tips.

    `names` stand at the tips; a unit is equally long on both axes. `words` has "name" for the
    picture and "tip" with {name}, {x} and {y}. Raises ValueError for data that do not fit.
    """
    payload = arrows_payload(points, names) | {"gap": gap}
    payload |= {"axes": list(axes), "words": dict(words)}
    renderer("arrows")(data=pack(payload), key=key)


def arrows_payload(points: np.ndarray, names: Sequence[str]) -> dict[str, Any]:
    """Return what the two arrows are sent, checked."""
    tips = np.asarray(points, dtype=np.float64)
    if tips.shape != (2, 2) or not np.isfinite(tips).all():
        raise ValueError(f"two finite points of two numbers are needed; got shape {tips.shape}")
    if len(names) != 2:
        raise ValueError(f"two tips need two names; got {len(names)}")
    return {"tips": tips.astype(np.float32), "names": list(names)}
