"""Linked matrices whose every cell opens to its arithmetic.

Matrices that a view names are fetched by browsers, once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import field as field_of
from typing import Any, Literal

import numpy as np

from llmviz.course.components._shared.cell_operations import Op, check
from llmviz.course.components._shared.transport import Stored, mount_states, place_of
from llmviz.course.figures.theme import ROLES
from llmviz.files.text import whole_number


@dataclass(frozen=True)
class Weights:
    """Matrices that depend on no text, by name: browsers fetch them once."""

    values: Mapping[str, np.ndarray]
    part: Stored

    @classmethod
    def of(cls, values: Mapping[str, np.ndarray]) -> Weights:
        """Pack matrices, float32 each."""
        return cls(values, Stored({field(name): array for name, array in values.items()}))


def by_reference(matrices: Sequence[dict[str, Any]], weights: Sequence[Weights]) -> None:
    """Put a name in place of the values of each described matrix that travels with weights."""
    stored = {name for group in weights for name in group.values}
    for described in matrices:
        if described["name"] in stored:
            described["values"] = field(described["name"])


def field(name: str) -> str:
    """The field of a stored part in which a matrix lies."""
    return f"values of {name}"


@dataclass(frozen=True)
class Matrix:
    """One matrix of a view: its values, what it is called, and how it came to be.

    ``values`` (rows, columns). ``label`` is its heading and ``formula`` plain text behind it.
    ``row_axis`` and ``col_axis`` name the axes ("token that asks"). ``notes`` holds one
    sentence a row. Cells in ``hidden`` show "?". ``limit`` is the value at the colour scale's
    end, the largest finite magnitude if not given. ``digits`` are decimals in the arithmetic, and
    the most in a cell; 0 for counts. ``windows`` names the view's windows through which its rows
    and its columns are seen, "" for an axis that is drawn whole; the arithmetic of a cell uses the
    whole matrix all the same. ``rings`` are drawn around cells, by what they say: the first
    whole, the others dashed.
    """

    name: str
    values: np.ndarray
    label: str = ""
    formula: str = ""
    row_labels: Sequence[str] = ()
    col_labels: Sequence[str] = ()
    row_axis: str = ""
    col_axis: str = ""
    role: str = "neutral"
    op: Op | None = None
    scale: Literal["auto", "diverging", "sequential"] = "auto"
    limit: float | None = None
    digits: int = 4
    row_sums: bool = False
    notes: Sequence[str] = ()
    hidden: Sequence[tuple[int, int]] = ()
    windows: tuple[str, str] = ("", "")
    rings: Mapping[str, Sequence[tuple[int, int]]] = field_of(default_factory=dict)


@dataclass(frozen=True)
class Window:
    """An axis too long to be drawn: how many of its ``size`` numbers are seen, from ``at`` on.

    Matrices that share a window move together. The whole of each stands small below it; where it
    is dragged, or the arrow keys are pressed on it, the window moves.
    """

    size: int
    show: int
    at: int = 0


@dataclass(frozen=True)
class Cell:
    """A cell of a named matrix."""

    name: str
    row: int
    column: int


@dataclass(frozen=True)
class MatrixState:
    """What the learner settled on: the pinned cell, if any, and the step."""

    pinned: Cell | None
    step: int


def matrix_view(
    matrices: Sequence[Matrix],
    *,
    key: str,
    layout: Sequence[Sequence[str | None]] | None = None,
    steps: Sequence[tuple[Sequence[str], str]] | None = None,
    step: int | None = None,
    pinned: Cell | None = None,
    numbers: bool | Literal["auto"] = "auto",
    stacked: bool = False,
    narrow: int = 0,
    windows: Mapping[str, Window] | None = None,
    weights: Sequence[Weights] = (),
    on_change: Callable[[], None] | None = None,
) -> MatrixState:
    """Draw linked matrices; return the pinned cell and the step.

    ``layout`` is a grid of names, None for a gap and any other text for a glyph such as "×"; a
    name that stands there several times in a row goes across these columns.
    ``steps`` are (names that appear, caption); with them a player stands above the matrices.
    ``step`` and ``pinned`` are where to start; ``stacked`` is for long
    rows one below the other: they share their left edge and shrink to three pixels a number,
    while narrow matrices keep their numbers; ``narrow`` does the last for matrices of up to so many
    columns where all find room. ``windows`` are named by the matrices that are seen through them;
    those moved come back as ``st.session_state[key]["window"]``, a list of (name, at).
    Matrices whose names are among those of ``weights`` travel with these. A matrix that is not in
    ``layout`` is not drawn; the arithmetic of others may use it.
    Raises ValueError for data that do not fit.
    """
    payload = matrix_payload(matrices, layout, steps, numbers=numbers, windows=windows)
    payload |= {"stacked": stacked, "narrow": narrow}
    by_reference(payload["matrices"], weights)
    count = max(1, len(payload["steps"]))
    start = count - 1 if step is None else max(0, min(step, count - 1))
    starts = starting_states(start, pinned, windows)
    parts = (group.part for group in weights)
    settled = mount_states(
        "matrix_view", payload, *parts, key=key, starts=starts, on_change=on_change
    )
    shapes = {matrix.name: np.shape(matrix.values) for matrix in matrices}
    cell = _read_cell(settled["pinned"], shapes)
    return MatrixState(cell, place_of(settled["step"], count, start))


def starting_states(
    step: int, pinned: Cell | None, windows: Mapping[str, Window] | None
) -> dict[str, Any]:
    """Return where a view starts, as the browser takes it and reports it."""
    return {
        "step": step,
        "pinned": None if pinned is None else [pinned.name, pinned.row, pinned.column],
        "window": [[name, view.at] for name, view in sorted((windows or {}).items()) if view.at],
    }


def matrix_payload(
    matrices: Sequence[Matrix],
    layout: Sequence[Sequence[str | None]] | None,
    steps: Sequence[tuple[Sequence[str], str]] | None,
    *,
    numbers: bool | Literal["auto"],
    windows: Mapping[str, Window] | None = None,
) -> dict[str, Any]:
    """Return what a matrix view is sent, checked."""
    windows = windows or {}
    if not matrices:
        raise ValueError("a matrix view needs at least one matrix")
    shapes = {matrix.name: np.shape(matrix.values) for matrix in matrices}
    if len(shapes) != len(matrices):
        raise ValueError("the names of matrices must differ")
    steps = steps or ()
    for names, _ in steps:
        for name in names:
            if name not in shapes:
                raise ValueError(f"steps name {name!r}, which is not among the matrices")
    return {
        "matrices": [_described(matrix, shapes, windows) for matrix in matrices],
        "layout": [list(row) for row in layout] if layout else None,
        "steps": [{"names": list(names), "caption": caption} for names, caption in steps],
        "numbers": numbers,
        "windows": {name: {"size": view.size, "show": view.show} for name, view in windows.items()},
    }


def _check_windows(matrix: Matrix, shape: tuple[int, int], windows: Mapping[str, Window]) -> None:
    for name, size in zip(matrix.windows, shape, strict=True):
        if name and name not in windows:
            raise ValueError(f"matrix {matrix.name!r}: there is no window {name!r}")
        if name and not (windows[name].size == size and 0 < windows[name].show <= size):
            raise ValueError(
                f"matrix {matrix.name!r} {shape}: the window {name!r} shows {windows[name].show} "
                f"of {windows[name].size} numbers"
            )


def _described(
    matrix: Matrix, shapes: dict[str, tuple[int, int]], windows: Mapping[str, Window]
) -> dict[str, Any]:
    values = np.asarray(matrix.values, dtype=np.float32)
    if values.ndim != 2 or 0 in values.shape:
        raise ValueError(f"matrix {matrix.name!r} must have two dimensions; got {values.shape}")
    if np.isnan(values).any():
        raise ValueError(f"matrix {matrix.name!r} holds a NaN")
    if matrix.role not in ROLES["light"] and matrix.role != "neutral":
        raise ValueError(f"matrix {matrix.name!r}: unknown role {matrix.role!r}")
    rows, cols = values.shape
    _check_windows(matrix, (rows, cols), windows)
    for what, names, size in (
        ("row_labels", matrix.row_labels, rows),
        ("col_labels", matrix.col_labels, cols),
        ("notes", matrix.notes, rows),
    ):
        if len(names) not in (0, size):
            raise ValueError(f"matrix {matrix.name!r}: {what} has {len(names)} entries, not {size}")
    if matrix.op is not None:
        check(matrix.name, (rows, cols), matrix.op, shapes)
    finite = values[np.isfinite(values)]
    signed = bool((finite < 0).any())
    scale = matrix.scale
    if scale == "auto":
        scale = "diverging" if signed or matrix.role != "weights" else "sequential"
    limit = matrix.limit or float(np.abs(finite).max(initial=0.0)) or 1.0
    return {
        "name": matrix.name,
        "values": values,
        "label": matrix.label or matrix.name,
        "formula": matrix.formula,
        "rowLabels": [str(label) for label in matrix.row_labels],
        "colLabels": [str(label) for label in matrix.col_labels],
        "rowAxis": matrix.row_axis,
        "colAxis": matrix.col_axis,
        "role": matrix.role,
        "op": matrix.op and {"kind": matrix.op.kind, "of": matrix.op.operands, **matrix.op.params},
        "scale": scale,
        "limit": limit,
        "digits": matrix.digits,
        "rowSums": values.sum(axis=1, dtype=np.float32) if matrix.row_sums else None,
        "notes": list(matrix.notes),
        "hidden": [[int(i), int(j)] for i, j in matrix.hidden],
        "windows": list(matrix.windows),
        "rings": [[name, [[int(i), int(j)] for i, j in at]] for name, at in matrix.rings.items()],
    }


def cell_of(written: str, shapes: Mapping[str, tuple[int, ...]]) -> Cell | None:
    """Return the cell that a link names; None where there is none or it does not exist.

    >>> cell_of("row.0.3", {"row": (1, 4)})
    Cell(name='row', row=0, column=3)
    """
    name, *place = written.split(".")
    return _read_cell([name, *map(whole_number, place)], shapes)


def _read_cell(raw: Any, shapes: Mapping[str, tuple[int, ...]]) -> Cell | None:
    """Return the cell of [name, row, column], or None where it does not exist (any more)."""
    match raw:
        case [str(name), int(row), int(column)] if name in shapes:
            rows, columns = shapes[name]
            if 0 <= row < rows and 0 <= column < columns:
                return Cell(name, row, column)
    return None
