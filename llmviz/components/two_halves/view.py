"""An encoder and a decoder at work: what is read and written, and which token looks at which."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from llmviz.components._shared.transport import as_bytes, mount_states


def two_halves(
    source: Sequence[str],
    read: Sequence[str],
    *,
    encoder: np.ndarray,
    own: np.ndarray,
    cross: np.ndarray,
    best: Sequence[Sequence[str]],
    chances: np.ndarray,
    names: Sequence[str],
    captions: Sequence[str],
    words: Mapping[str, str],
    key: str,
    step: int = 0,
    chosen: int = 0,
    on_change: Callable[[], None] | None = None,
) -> None:
    """Draw a translation step by step; stepping, pointing and changing heads need no server.

    source (S,), read (T,): the tokens of both halves. encoder (G, S, S), own (G, T, T) and cross
    (G, T, S): weights of each head from 0 to 1; one byte a cell travels. best and chances (T, K):
    what the decoder says after each token it read. captions: T + 1, the first for step 0, in which
    only the encoder works. names: of the heads. words: `player`, `heads`, `encoder`, `decoder`,
    `nothing`, `says`, `reads`, `masked`, `crossed`. The step and the head that the hand left stand
    in ``st.session_state[key]`` as "step" and "chosen". Raises ValueError for data that do not fit.
    """
    payload = halves_payload(source, read, encoder, own, cross, best, chances, names, captions)
    payload["words"] = dict(words)
    starts = {"step": min(step, len(read)), "chosen": min(chosen, len(names) - 1)}
    mount_states("two_halves", payload, key=key, starts=starts, on_change=on_change)


def halves_payload(
    source: Sequence[str],
    read: Sequence[str],
    encoder: np.ndarray,
    own: np.ndarray,
    cross: np.ndarray,
    best: Sequence[Sequence[str]],
    chances: np.ndarray,
    names: Sequence[str],
    captions: Sequence[str],
) -> dict[str, Any]:
    """Return what the picture is sent, checked."""
    s, t, g = len(source), len(read), len(names)
    for name, weights, wanted in (
        ("encoder", encoder, (g, s, s)),
        ("own", own, (g, t, t)),
        ("cross", cross, (g, t, s)),
    ):
        if np.shape(weights) != wanted or 0 in wanted:
            raise ValueError(f"{name} must be {wanted}; got {np.shape(weights)}")
    if np.triu(own, 1).any():
        raise ValueError("a decoder's own weights must be zero above the diagonal")
    chances = np.ascontiguousarray(chances, dtype=np.float32)
    if [len(row) for row in best] != [chances.shape[-1]] * t or len(chances) != t:
        raise ValueError(f"best and chances must be of {t} steps and of one length")
    if len(captions) != t + 1:
        raise ValueError(f"{t} steps need {t + 1} captions; got {len(captions)}")
    return {
        "source": list(source),
        "read": list(read),
        "encoder": as_bytes(encoder),
        "own": as_bytes(own),
        "cross": as_bytes(cross),
        "best": [list(row) for row in best],
        "chances": chances,
        "names": list(names),
        "captions": list(captions),
    }
