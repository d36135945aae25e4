"""What a model was along its training: what it wrote, where it looked, how its tokens lay."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from llmviz.course.components._shared.transport import as_bytes, mount_states

PANES = ("writes", "looks", "lies")


@dataclass(frozen=True, eq=False)
class Film:
    """K moments of a training; what a model does not have is None.

    texts: what it wrote at each. weights (K, heads, T, T) in 0..1 over `tokens`, for the heads of
    `names`. points (K, N, 2) of `labels`, of which those in `lit` are coloured, on one plane that
    holds `share` of the spread of the last ones.
    """

    steps: Sequence[int]
    texts: Sequence[Sequence[str]] | None = None
    tokens: Sequence[str] = ()
    names: Sequence[str] = ()
    weights: np.ndarray | None = None
    labels: Sequence[str] = ()
    lit: Sequence[int] = ()
    points: np.ndarray | None = None
    share: float = 0.0


def run_film(
    film: Film,
    *,
    key: str,
    words: Mapping[str, str],
    head: int = 0,
    asking: int = 0,
    pane: str = PANES[0],
    on_change: Callable[[], None] | None = None,
) -> None:
    """Draw the moment that the scrubber of the curves beside it stands at, or the one before it.

    head, asking: of the weights; one that is not there is the first head or the last token. pane:
    the one that is seen where there is room for one alone. What the hand set of the three stands in
    ``st.session_state[key]``. Raises ValueError for data that do not fit.
    """
    payload = film_payload(film) | {"words": dict(words)}
    starts = {
        "head": head if head < len(film.names) else 0,
        "asking": min(asking, max(0, len(film.tokens) - 1)),
        "pane": pane,
    }
    mount_states("run_film", payload, key=key, starts=starts, on_change=on_change)


def film_payload(film: Film) -> dict[str, Any]:
    """Return what a film is sent, checked."""
    moments = len(film.steps)
    if not moments or list(film.steps) != sorted(set(film.steps)):
        raise ValueError(f"steps must rise, one at least; got {list(film.steps)}")
    payload: dict[str, Any] = {"steps": [int(step) for step in film.steps]}
    if film.texts is not None:
        if len(film.texts) != moments:
            raise ValueError(f"texts must be {moments}; got {len(film.texts)}")
        payload["texts"] = [list(texts) for texts in film.texts]
    if film.weights is not None:
        wanted = (moments, len(film.names), len(film.tokens), len(film.tokens))
        if film.weights.shape != wanted or 0 in wanted:
            raise ValueError(f"weights must be {wanted}; got {film.weights.shape}")
        payload |= {
            "cells": np.ascontiguousarray(as_bytes(film.weights)),
            "names": list(film.names),
            "tokens": list(film.tokens),
        }
    if film.points is not None:
        points = np.asarray(film.points, np.float32)
        if points.shape != (moments, len(film.labels), 2) or not np.isfinite(points).all():
            raise ValueError(f"points must be {(moments, len(film.labels), 2)}, and finite")
        payload |= {
            "points": points,
            "labels": list(film.labels),
            "lit": [int(place) for place in film.lit],
            "share": float(film.share),
        }
    return payload
