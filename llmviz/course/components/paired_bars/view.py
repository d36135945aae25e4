"""Pairs of bars: two probabilities for each label."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from llmviz.course.components._shared.transport import pack, renderer


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
