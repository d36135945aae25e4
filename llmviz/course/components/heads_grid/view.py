"""The grid of all heads: a thumbnail for each layer and head."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from llmviz.course.components._shared.transport import as_bytes, mount
from llmviz.course.components.words import words


def heads_grid(
    weights: np.ndarray,
    *,
    key: str,
    row_names: Sequence[str] | None = None,
    column_names: Sequence[str] | None = None,
    tokens: Sequence[str] = (),
    key_tokens: Sequence[str] | None = None,
    notes: Sequence[Sequence[str]] | None = None,
    chosen: tuple[int, int] | None = None,
    lines: bool = False,
    covered: tuple[int, int] | None = None,
    on_change: Callable[[], None] | None = None,
) -> tuple[int, int] | None:
    """Draw every head's weights as a thumbnail; return the (layer, head) clicked.

    None: none was, or the chosen one again, which stays.

    With ``lines`` the chosen head stands below as lines between its tokens. The ``covered`` head
    shows "?"; its weights do not travel.

    ``weights`` (layers, heads, queries, keys) in 0..1, or the same times 255 as uint8; one byte
    a cell travels, and only the lower triangle when nothing lies above it. ``notes`` holds a
    line for each head. Raises ValueError for data that do not fit.
    """
    if covered is not None:
        weights = np.array(weights)
        weights[covered] = 0
    payload = heads_payload(weights, row_names, column_names, tokens, key_tokens, notes)
    payload["covered"] = None if covered is None else list(covered)
    layers, heads = payload["shape"][:2]
    start = None if chosen is None else list(chosen)
    payload["lines"] = lines
    match mount("heads_grid", payload, key=key, state="chosen", start=start, on_change=on_change):
        case [int(layer), int(head)] if 0 <= layer < layers and 0 <= head < heads:
            return layer, head
    return None


def heads_payload(
    weights: np.ndarray,
    row_names: Sequence[str] | None,
    column_names: Sequence[str] | None,
    tokens: Sequence[str],
    key_tokens: Sequence[str] | None,
    notes: Sequence[Sequence[str]] | None,
) -> dict[str, Any]:
    """Return what a grid of heads is sent, checked."""
    weights = np.asarray(weights)
    if weights.ndim != 4 or 0 in weights.shape:
        raise ValueError(f"weights must be (layers, heads, queries, keys); got {weights.shape}")
    weights = as_bytes(weights)
    layers, heads, queries, keys = weights.shape
    triangle = queries == keys and not np.triu(weights, 1).any()
    cells = weights[:, :, *np.tril_indices(queries)] if triangle else weights
    layer, head = words.layer, words.head
    rows = list(row_names or (layer.format(at=i) for i in range(layers)))
    columns = list(column_names or (head.format(at=i) for i in range(heads)))
    if len(rows) != layers or len(columns) != heads:
        raise ValueError(f"names must be {layers} and {heads}; got {len(rows)} and {len(columns)}")
    if notes is not None and [len(line) for line in notes] != [heads] * layers:
        raise ValueError(f"notes must be {layers} lists of {heads} lines")
    return {
        "shape": [layers, heads, queries, keys],
        "triangle": triangle,
        "cells": np.ascontiguousarray(cells),
        "rowNames": rows,
        "columnNames": columns,
        "tokens": list(tokens),
        "keyTokens": list(tokens if key_tokens is None else key_tokens),
        "notes": None if notes is None else [list(line) for line in notes],
    }
