"""Viterbi's lattice of a sentence: filled word by word, each cell opening to its arithmetic."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from llmviz.course.components._shared.transport import mount_states

TEXTS = (
    "label",
    "unseen",
    "point",
    "start",
    "largest",
    "from",
    "before",
    "score",
    "sum",
)
"""What the picture says: each of these needs a text."""


@dataclass(frozen=True)
class LatticeNumbers:
    """What the algorithm computed for T words and K tags, all logarithms natural.

    scores, emission (T, K); back (T, K): the tag before, −1 for the first word; start (K,);
    transition (K, K) from the row to the column; path: the best tags; seen: of each word whether
    it was in the counted text.
    """

    words: Sequence[str]
    tags: Sequence[str]
    scores: np.ndarray
    back: np.ndarray
    emission: np.ndarray
    start: np.ndarray
    transition: np.ndarray
    path: Sequence[int]
    seen: Sequence[bool]


def lattice_view(
    numbers: LatticeNumbers,
    *,
    key: str,
    captions: Sequence[str],
    text: Mapping[str, str],
    step: int | None = None,
    chosen: tuple[int, int] | None = None,
    on_change: Callable[[], None] | None = None,
) -> None:
    """Draw the lattice. Step t fills the column of word t; the last step walks the best path back.

    captions: a sentence for each of the T + 1 steps. text: see `TEXTS`. step: where to start, the
    last one if not given; chosen: (word, tag) of the open cell. What the hand settled on is in
    ``st.session_state[key]``: "step" and "chosen". Raises ValueError for data that do not fit.
    """
    payload = lattice_payload(numbers, captions, text)
    last = len(numbers.words)
    starts = {
        "step": last if step is None else max(0, min(step, last)),
        "chosen": None if chosen is None else list(chosen),
    }
    mount_states("lattice", payload, key=key, starts=starts, on_change=on_change)


def lattice_payload(
    numbers: LatticeNumbers, captions: Sequence[str], text: Mapping[str, str]
) -> dict[str, Any]:
    """Return what a lattice is sent, checked."""
    t, k = len(numbers.words), len(numbers.tags)
    wanted = {
        "scores": (t, k),
        "back": (t, k),
        "emission": (t, k),
        "start": (k,),
        "transition": (k, k),
    }
    for name, shape in wanted.items():
        if np.shape(getattr(numbers, name)) != shape or 0 in shape:
            raise ValueError(f"{name} must be {shape}; got {np.shape(getattr(numbers, name))}")
    if len(numbers.path) != t or len(numbers.seen) != t or len(captions) != t + 1:
        raise ValueError(f"{t} words need as many tags and marks, and {t + 1} captions")
    if absent := next((name for name in TEXTS if name not in text), None):
        raise ValueError(f"the lattice has no text for {absent!r}")
    floats = {
        name: np.ascontiguousarray(getattr(numbers, name), dtype=np.float32)
        for name in ("scores", "emission", "start", "transition")
    }
    if not all(np.isfinite(values).all() for values in floats.values()):
        raise ValueError("the logarithms of a lattice must be finite")
    return floats | {
        "words": list(numbers.words),
        "tags": list(numbers.tags),
        "back": np.ascontiguousarray(numbers.back, dtype=np.int32),
        "path": [int(tag) for tag in numbers.path],
        "seen": [bool(seen) for seen in numbers.seen],
        "captions": list(captions),
        "text": dict(text),
    }
