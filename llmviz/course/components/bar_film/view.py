"""A film of bars in layers, and a sentence for each of its steps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from llmviz.course.components._shared.transport import mount, place_of


def bar_film(
    heights: np.ndarray,
    labels: Sequence[str],
    layers: Sequence[tuple[str, str]],
    *,
    key: str,
    axes: tuple[str, str],
    steps: Sequence[str],
    captions: Sequence[str],
    limit: float,
    step: int = 0,
    on_change: Callable[[], None] | None = None,
) -> int:
    """Draw shares (F, K, N) of N bars as K layers on each other; return the frame settled on.

    labels: of the bars. layers: the name of each and its role of the theme; a single one has no
    legend. axes: of the bars, of the shares. steps: what each of the F frames is called. captions:
    a sentence for each. limit: the highest bar that has room, the same for all frames.
    Raises ValueError for data that do not fit.
    """
    payload = film_payload(heights, labels, layers, steps, captions, limit) | {"axes": list(axes)}
    last = len(captions) - 1
    start = max(0, min(step, last))
    reported = mount("bar_film", payload, key=key, state="step", start=start, on_change=on_change)
    return place_of(reported, last + 1, start)


def film_payload(
    heights: np.ndarray,
    labels: Sequence[str],
    layers: Sequence[tuple[str, str]],
    steps: Sequence[str],
    captions: Sequence[str],
    limit: float,
) -> dict[str, Any]:
    """Return what a film of bars is sent, checked."""
    wanted = (len(captions), len(layers), len(labels))
    if heights.shape != wanted or 0 in wanted or len(steps) != wanted[0]:
        raise ValueError(f"a film of bars needs heights {wanted}; got {heights.shape}")
    if not np.isfinite(heights).all() or heights.min() < 0:
        raise ValueError("bars must be finite and not below 0")
    if not float(heights.sum(1).max()) <= limit * 1.000001 or limit <= 0:
        raise ValueError(f"the highest bar has no room: {heights.sum(1).max():g} of {limit:g}")
    return {
        "heights": heights.astype(np.float32),
        "labels": list(labels),
        "layers": [list(layer) for layer in layers],
        "steps": list(steps),
        "captions": list(captions),
        "limit": float(limit),
    }
