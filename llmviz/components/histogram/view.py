"""Light figures that follow a hand: a histogram, two vectors in their plane, pairs of bars.

They are redrawn in a few milliseconds, where the figure library would take seventy.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from llmviz.components._shared.transport import pack, renderer

BARS = 60


def histogram(
    values: np.ndarray,
    marks: Sequence[float],
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


def histogram_payload(values: np.ndarray, marks: Sequence[float]) -> dict[str, Any]:
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


def paired_bars(
    labels: Sequence[str],
    before: np.ndarray,
    after: np.ndarray | None,
    *,
    title: str,
    names: tuple[str, str],
    axis: str,
    limit: float,
    key: str,
) -> None:
    """Draw two probabilities (N,), (N,) for each label as a pair of bars, the first on top.

    Without the second, a single bar stands for each label. `names` say what the bars of a pair
    are, `limit` is the longest bar that has room, the same for figures that stand side by side.
    Raises ValueError for data that do not fit.
    """
    payload = pairs_payload(labels, before, after, limit)
    payload |= {"title": title, "names": list(names[: 1 + (after is not None)]), "axis": axis}
    renderer("paired_bars")(data=pack(payload), key=key)


def pairs_payload(
    labels: Sequence[str], before: np.ndarray, after: np.ndarray | None, limit: float
) -> dict[str, Any]:
    """Return what pairs of bars are sent, checked."""
    given = (before,) if after is None else (before, after)
    pairs = [np.asarray(values, dtype=np.float32) for values in given]
    if any(values.shape != (len(labels),) for values in pairs) or not len(labels):
        raise ValueError(f"{len(labels)} labels need as many values before and after")
    highest = max(float(values.max()) for values in pairs)
    if not all(np.isfinite(values).all() and (values >= 0).all() for values in pairs):
        raise ValueError("bars must be finite and not below 0")
    if not highest <= limit * 1.000001 or limit <= 0:
        raise ValueError(f"the longest bar has no room: {highest:g} of {limit:g}")
    return {
        "labels": list(labels),
        "before": pairs[0],
        "after": pairs[1] if len(pairs) > 1 else None,
        "limit": float(limit),
    }
