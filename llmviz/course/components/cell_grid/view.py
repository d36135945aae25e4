"""A grid of coloured cells with a text in each: layers or sites down, tokens across."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from llmviz.course.components._shared.transport import mount
from llmviz.course.figures.theme import ROLES


def cell_grid(
    values: np.ndarray,
    *,
    key: str,
    row_names: Sequence[str],
    column_names: Sequence[str],
    texts: Sequence[Sequence[str]] = (),
    notes: Sequence[Sequence[str]] = (),
    strong: np.ndarray | None = None,
    starts: Sequence[int] = (),
    role: str = "weights",
    limit: float | None = None,
    scale: tuple[str, str] = ("", ""),
    label: str = "",
    chosen: tuple[int, int] | None = None,
    together: Sequence[tuple[int, int]] = (),
    ghost: tuple[int, int] | None = None,
    on_change: Callable[[], None] | None = None,
) -> tuple[int, int] | None:
    """Draw a grid; return the (row, column) clicked.

    values (R, C): what colours a cell, from 0 to ``limit``, or from −limit to limit where some are
    below 0; the limit is the largest magnitude if not given. texts: what stands in each cell;
    without any, cells are narrow. notes: what the line below says of the cell that is pointed at.
    strong (R, C) bool: cells whose text is bold. starts: rows that begin a new group. scale: what
    the two ends of the colours mean. label: what a screen reader calls the grid.
    together: cells that are marked as chosen while none is, for what is said of several at once.
    ghost: the cell of a guess that was not right.
    Raises ValueError for data that do not fit.
    """
    payload = grid_payload(values, row_names, column_names, texts, notes, strong, starts, role)
    rows, columns = payload["values"].shape
    size = float(np.abs(payload["values"]).max(initial=0.0))
    payload |= {"limit": limit or size or 1.0, "scale": list(scale), "label": label}
    payload["together"] = [list(cell) for cell in together]
    payload["ghost"] = ghost and list(ghost)
    start = None if chosen is None else list(chosen)
    cell = mount("cell_grid", payload, key=key, state="chosen", start=start, on_change=on_change)
    return read_cell(cell, rows, columns)


def read_cell(raw: Any, rows: int, columns: int) -> tuple[int, int] | None:
    """Return the cell of [row, column], or None where there is none.

    >>> read_cell([1, 2], 3, 3), read_cell([3, 0], 3, 3), read_cell(None, 3, 3)
    ((1, 2), None, None)
    """
    match raw:
        case [int(row), int(column)] if 0 <= row < rows and 0 <= column < columns:
            return row, column
    return None


def grid_payload(
    values: np.ndarray,
    row_names: Sequence[str],
    column_names: Sequence[str],
    texts: Sequence[Sequence[str]] = (),
    notes: Sequence[Sequence[str]] = (),
    strong: np.ndarray | None = None,
    starts: Sequence[int] = (),
    role: str = "weights",
) -> dict[str, Any]:
    """Return what a grid is sent, checked."""
    values = np.ascontiguousarray(values, dtype=np.float32)
    wanted = (len(row_names), len(column_names))
    if values.shape != wanted or 0 in wanted:
        raise ValueError(f"values must be (rows, columns) = {wanted}; got {values.shape}")
    if not np.isfinite(values).all():
        raise ValueError("values must be finite")
    for name, lines in (("texts", texts), ("notes", notes)):
        if lines and [len(line) for line in lines] != [wanted[1]] * wanted[0]:
            raise ValueError(f"{name} must be {wanted[0]} lists of {wanted[1]}")
    if strong is not None and np.shape(strong) != wanted:
        raise ValueError(f"strong must be {wanted}; got {np.shape(strong)}")
    if role not in ROLES["light"]:
        raise ValueError(f"role must be one of {', '.join(ROLES['light'])}; got {role!r}")
    return {
        "values": values,
        "signed": bool((values < 0).any()),
        "rowNames": list(row_names),
        "columnNames": list(column_names),
        "texts": [list(line) for line in texts],
        "notes": [list(line) for line in notes],
        "strong": None if strong is None else np.ascontiguousarray(strong, dtype=np.uint8),
        "starts": [int(row) for row in starts],
        "role": role,
    }
