"""A histogram that follows a hand: redrawn in a few milliseconds."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from llmviz.course.components._shared.transport import pack, renderer

BARS = 60


def histogram(
    values: np.ndarray,
    marks: Sequence[float] | np.ndarray,
    *,
    axes: tuple[str, str],
    key: str,
    words: Mapping[str, str],
) -> None:
    """Draw how many of some values (N,) lie where, as bars; a line stands at each of `marks`.

    `axes` are both titles. `words` has "name" for the picture, "marks" beside the lines, and "bar"
    with {from}, {to} and {count} for the one pointed at. Raises ValueError for data that do not
    fit.
    """
    payload = histogram_payload(values, marks) | {"axes": list(axes), "words": dict(words)}
    renderer("histogram")(data=pack(payload), key=key)


def histogram_payload(values: np.ndarray, marks: Sequence[float] | np.ndarray) -> dict[str, Any]:
    """Return what the bars are sent, checked."""
    values = np.asarray(values, dtype=np.float64)
    lines = np.asarray(marks, dtype=np.float64)
    if values.ndim != 1 or not values.size or not np.isfinite(values).all():
        raise ValueError("a histogram needs a list of finite values")
    if lines.ndim != 1 or not np.isfinite(lines).all():
        raise ValueError("the marks of a histogram must be finite")
    counts, edges = np.histogram(values, BARS)
    return {
        "counts": counts.astype(np.int32),
        "edges": edges.astype(np.float32),
        "marks": lines.astype(np.float32),
        # What is written goes to the side where the other values are.
        "right": bool(lines.size and lines.mean() <= values.mean()),
    }
