"""A tree whose nodes are vectors, each made from two nodes below it; one of them is chosen."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from llmviz.course.components._shared.transport import mount
from llmviz.course.components.cell_grid.view import read_cell


@dataclass(frozen=True)
class TreeLevel:
    """One level: its title, its shape in words, its nodes' values (n, F) and what each has seen."""

    title: str
    shape: str
    values: np.ndarray
    labels: Sequence[str]


def fused_tree(
    levels: Sequence[TreeLevel],
    *,
    key: str,
    words: Mapping[str, str],
    limit: float = 1.0,
    chosen: tuple[int, int] = (0, 0),
    on_change: Callable[[], None] | None = None,
) -> tuple[int, int]:
    """Draw a tree, its leaves at the bottom; return the (level, node) clicked.

    levels: the leaves first, then each with half as many nodes, up to one. `words` has "name" for
    the picture and "node" with {title}, {seen} and {shape}. `limit` is the value at the colours'
    ends. Raises ValueError for data that do not fit.
    """
    payload = tree_payload(levels) | {"words": dict(words), "limit": float(limit)}
    clicked = mount(
        "fused_tree", payload, key=key, state="chosen", start=list(chosen), on_change=on_change
    )
    cell = read_cell(clicked, len(levels), len(levels[0].labels))
    return cell if cell is not None and cell[1] < len(levels[cell[0]].labels) else chosen


def tree_payload(levels: Sequence[TreeLevel]) -> dict[str, Any]:
    """Return what a tree is sent, checked."""
    if not levels or len(levels[-1].labels) != 1:
        raise ValueError("a tree needs levels, the last of them with one node")
    for number, level in enumerate(levels):
        wanted = 2 ** (len(levels) - 1 - number)
        values = np.asarray(level.values)
        if len(level.labels) != wanted or values.ndim != 2 or len(values) != wanted:
            raise ValueError(f"level {number} must have {wanted} nodes; got {values.shape}")
        if not values.shape[1] or not np.isfinite(values).all():
            raise ValueError(f"level {number} needs finite values")
    return {
        "levels": [
            {
                "title": level.title,
                "shape": level.shape,
                "labels": list(level.labels),
                "values": np.ascontiguousarray(level.values, dtype=np.float32),
            }
            for level in levels
        ]
    }
