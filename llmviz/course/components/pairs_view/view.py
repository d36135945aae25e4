"""The (center, neighbour) pairs of skip-gram, drawn on the text."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from llmviz.course.components._shared.transport import mount, place_of


def pairs_view(
    texts: Sequence[str],
    kept: np.ndarray,
    centers: Sequence[int],
    pairs: np.ndarray,
    negatives: Sequence[str],
    *,
    key: str,
    words: Mapping[str, str],
    step: int = 0,
    on_step: Callable[[], None] | None = None,
) -> int:
    """Draw a text whose centers are visited one by one; return the number of the one let go at.

    ``texts`` are its words, ``kept`` (T,) which of them are read, ``centers`` places in order and
    ``pairs`` (P, 2) places of center and neighbour. ``negatives`` are the random words that all
    centers of this stretch are held against. Raises ValueError for places outside the text.
    """
    payload = pairs_payload(texts, kept, centers, pairs, negatives, words)
    last = len(centers) - 1
    start = max(0, min(step, last))
    reported = mount("pairs_view", payload, key=key, state="step", start=start, on_change=on_step)
    return place_of(reported, len(centers), start)


def pairs_payload(
    texts: Sequence[str],
    kept: np.ndarray,
    centers: Sequence[int],
    pairs: np.ndarray,
    negatives: Sequence[str],
    words: Mapping[str, str],
) -> dict[str, Any]:
    """Return what the picture of pairs is sent, checked."""
    n = len(texts)
    places = np.concatenate([np.asarray(centers, dtype=np.int64), np.asarray(pairs).reshape(-1)])
    if len(centers) == 0 or len(kept) != n or places.min() < 0 or places.max() >= n:
        raise ValueError(f"centers and pairs must be places among the {n} words of the text")
    return {
        "texts": list(texts),
        "kept": np.asarray(kept, dtype=np.uint8),
        "centers": np.asarray(centers, dtype=np.int32),
        "pairs": np.asarray(pairs, dtype=np.int32).reshape(-1, 2),
        "negatives": list(negatives),
        "words": dict(words),
    }
