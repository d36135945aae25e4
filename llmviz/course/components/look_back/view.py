"""A text in one line, and from the word that asks an arc to each word that it looks at."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from llmviz.course.components._shared.transport import as_bytes, mount, place_of


def look_back(
    weights: np.ndarray,
    tokens: Sequence[str],
    *,
    key: str,
    names: Sequence[str],
    words: Mapping[str, str],
    asking: int = -1,
    covered: Sequence[int] = (),
    ghost: tuple[int, int] | None = None,
    on_change: Callable[[], None] | None = None,
) -> int:
    """Draw heads, a line of the text for each; return the place of the token that asks.

    ``weights`` (heads, tokens, tokens) in 0..1, or the same times 255 as uint8; one byte a cell
    travels. asking: from the end where below 0. A token that is clicked asks, in all lines.
    covered: heads whose weights do not travel. ghost: head and place of a guess that was not
    right. `words`: asks, of {word}, most, of {asking}, {word}
    and {share}, and waits, of a covered head. Raises ValueError for data that do not fit.
    """
    weights = np.array(weights)
    weights[list(covered)] = 0
    payload = look_payload(weights, tokens, names)
    payload |= {"words": dict(words), "covered": list(covered), "ghost": ghost and list(ghost)}
    start = place_of(asking % len(tokens), len(tokens), 0)
    place = mount("look_back", payload, key=key, state="asking", start=start, on_change=on_change)
    return place_of(place, len(tokens), start)


def look_payload(
    weights: np.ndarray, tokens: Sequence[str], names: Sequence[str]
) -> dict[str, Any]:
    """Return what the lines are sent, checked."""
    weights = np.asarray(weights)
    wanted = (len(names), len(tokens), len(tokens))
    if weights.shape != wanted or 0 in weights.shape:
        raise ValueError(f"weights must be (heads, tokens, tokens) = {wanted}; got {weights.shape}")
    return {
        "cells": np.ascontiguousarray(as_bytes(weights)),
        "names": list(names),
        "tokens": list(tokens),
    }
