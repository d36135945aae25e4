"""Heads as lines from tokens as queries to tokens as keys."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from llmviz.course.components._shared.transport import as_bytes, mount, place_of


def head_view(
    weights: np.ndarray,
    tokens: Sequence[str],
    *,
    key: str,
    names: Sequence[str],
    key_tokens: Sequence[str] | None = None,
    notes: Sequence[str] = (),
    marks: Sequence[tuple[int, int]] = (),
    chosen: int = 0,
    on_change: Callable[[], None] | None = None,
) -> int:
    """Draw heads as lines by weight, one at a time; return the number of the head clicked.

    ``weights`` (heads, queries, keys) in 0..1, or the same times 255 as uint8; one byte a cell
    travels. ``tokens`` are the queries, ``key_tokens`` the keys (the same if not given). ``notes``
    stand below the names of the heads. ``marks`` are (query, key) pairs known to belong together.
    Raises ValueError for data that do not fit.
    """
    payload = view_payload(weights, tokens, names, key_tokens, notes, marks)
    head = mount("head_view", payload, key=key, state="chosen", start=chosen, on_change=on_change)
    return place_of(head, len(payload["names"]), chosen)


def view_payload(
    weights: np.ndarray,
    tokens: Sequence[str],
    names: Sequence[str],
    key_tokens: Sequence[str] | None,
    notes: Sequence[str],
    marks: Sequence[tuple[int, int]],
) -> dict[str, Any]:
    """Return what a head view is sent, checked."""
    weights = np.asarray(weights)
    keys = tokens if key_tokens is None else key_tokens
    if weights.shape != (len(names), len(tokens), len(keys)) or 0 in weights.shape:
        wanted = (len(names), len(tokens), len(keys))
        raise ValueError(f"weights must be (heads, queries, keys) = {wanted}; got {weights.shape}")
    weights = as_bytes(weights)
    if notes and len(notes) != len(names):
        raise ValueError(f"notes must be {len(names)} lines; got {len(notes)}")
    for query, key in marks:
        if not (0 <= query < len(tokens) and 0 <= key < len(keys)):
            raise ValueError(f"mark ({query}, {key}) lies outside {weights.shape[1:]}")
    return {
        "cells": np.ascontiguousarray(weights),
        "names": list(names),
        "notes": list(notes),
        "tokens": list(tokens),
        "keyTokens": list(keys),
        "marks": [[int(q), int(k)] for q, k in marks],
    }
