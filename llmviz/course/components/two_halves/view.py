"""An encoder and a decoder at work: what is read and written, and which token looks at which."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from llmviz.course.components._shared.transport import as_bytes, mount_states


@dataclass(frozen=True, eq=False)
class Translation:
    """What both halves computed of one translation.

    source (S,), read (T,): the tokens of both halves. encoder (G, S, S), own (G, T, T) and cross
    (G, T, S): weights of each head from 0 to 1; one byte a cell travels. best and chances (T, K):
    what the decoder says after each token it read. names (G,): of the heads. captions: T + 1, the
    first for step 0, in which only the encoder works.
    """

    source: Sequence[str]
    read: Sequence[str]
    encoder: np.ndarray
    own: np.ndarray
    cross: np.ndarray
    best: Sequence[Sequence[str]]
    chances: np.ndarray
    names: Sequence[str]
    captions: Sequence[str]


def two_halves(
    translation: Translation,
    *,
    key: str,
    words: Mapping[str, str],
    step: int = 0,
    chosen: int = 0,
    on_change: Callable[[], None] | None = None,
) -> None:
    """Draw a translation step by step; stepping, pointing and changing heads need no server.

    words: `player`, `heads`, `encoder`, `decoder`, `nothing`, `says`, `reads`, `masked`, `crossed`.
    The step and the head that the hand left stand in ``st.session_state[key]`` as "step" and
    "chosen". Raises ValueError for data that do not fit.
    """
    payload = halves_payload(translation) | {"words": dict(words)}
    last_step, last_head = len(translation.read), len(translation.names) - 1
    starts = {"step": min(step, last_step), "chosen": min(chosen, last_head)}
    mount_states("two_halves", payload, key=key, starts=starts, on_change=on_change)


def halves_payload(given: Translation) -> dict[str, Any]:
    """Return what the picture is sent, checked."""
    s, t, g = len(given.source), len(given.read), len(given.names)
    for name, weights, wanted in (
        ("encoder", given.encoder, (g, s, s)),
        ("own", given.own, (g, t, t)),
        ("cross", given.cross, (g, t, s)),
    ):
        if np.shape(weights) != wanted or 0 in wanted:
            raise ValueError(f"{name} must be {wanted}; got {np.shape(weights)}")
    if np.triu(given.own, 1).any():
        raise ValueError("a decoder's own weights must be zero above the diagonal")
    chances = np.ascontiguousarray(given.chances, dtype=np.float32)
    if [len(row) for row in given.best] != [chances.shape[-1]] * t or len(chances) != t:
        raise ValueError(f"best and chances must be of {t} steps and of one length")
    if len(given.captions) != t + 1:
        raise ValueError(f"{t} steps need {t + 1} captions; got {len(given.captions)}")
    return {
        "source": list(given.source),
        "read": list(given.read),
        "encoder": as_bytes(given.encoder),
        "own": as_bytes(given.own),
        "cross": as_bytes(given.cross),
        "best": [list(row) for row in given.best],
        "chances": chances,
        "names": list(given.names),
        "captions": list(given.captions),
    }
