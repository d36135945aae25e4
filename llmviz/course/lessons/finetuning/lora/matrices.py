"""W, B, A, their product and W in effect as linked matrices, a part of them at a time."""

from collections.abc import Iterable, Mapping

import numpy as np
import streamlit as st

from llmviz.course import components as lv
from llmviz.course.lessons.finetuning.lora import source, words
from llmviz.course.lessons.finetuning.tuned_model import base
from llmviz.course.ui import engine, kit
from llmviz.course.ui.matrix_picture import read_windows
from llmviz.finetuning.adapted import Change, change_at, cut, largest_at

KEY = "finetuning.lora.matrices"
SIZE = 32  # rows and columns of the part that is sent
SEEN = 6  # of them that are seen at once
NARROW = 8  # columns; on a phone matrices stand one below the other
NAMES = ("W", "B", "A", "BA", "added", "sum")
LAYOUT = (("B", "×", "A", "=", "BA"), ("W", "+", "added", "=", "sum"))


def draw(state: kit.PageState) -> tuple[str, str, bool]:
    """Show the choice of a matrix and, once asked, its picture.

    Returns the adapter's name, the path, and whether its numbers may be shown.
    """
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        # The windows then stand where the change of the part is largest.
        anywhere = state.setter(fromrow=-1, fromcolumn=-1, loraseen="")
        kit.choose(state, "adapter", words.adapter, words.adapters, then=anywhere)
        layers = base().model.config.n_layer
        slot = state.ranged("adapterlayer", most=layers - 1, then=state.setter(loraseen=""))
        st.number_input(words.layer, width=110, **slot)
        kit.choose(state, "matrix", words.matrix, words.matrices, then=anywhere)
    name, layer = state["adapter"], min(state["adapterlayer"], layers - 1)
    path = source.path_of(layer, state["matrix"])
    known = (source.beside(name), path)
    change = source.change_of(*known)
    if not kit.predict(question(*change.weight.shape, len(change.a)), f"{KEY}.ask", covers=True):
        return name, path, False
    row, column = _place(state, change)
    _picture(state, known, row, column)
    _told(change, row, column)
    _code(name, path, change)
    return name, path, True


def _place(state: kit.PageState, change: Change) -> tuple[int, int]:
    """Show which part of the matrix is shown, and return its first row and column."""
    own = largest_at(change.added, SIZE)
    corner = []
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        labels = (words.from_row, words.from_column)
        for axis, (key, label) in enumerate(zip(("fromrow", "fromcolumn"), labels, strict=True)):
            most = max(0, change.weight.shape[axis] - SIZE)
            at = min(state[key], most) if state[key] >= 0 else own[axis]

            def take(value: int | None, key: str = key) -> None:
                state[key], state["loraseen"] = -1 if value is None else value, ""

            slot = kit.tied(f"_{KEY}.{key}", at, take)
            more = {"help": words.places, "width": 140}
            st.number_input(label, min_value=0, max_value=most, **more, **slot)
            corner.append(at)
    return corner[0], corner[1]


@kit.kept(32)
def matrices_of(
    bundled: engine.Bundled, path: str, row: int, column: int
) -> tuple[tuple[lv.Matrix, ...], dict[str, lv.Window]]:
    """Return the matrices of a part and the windows on it."""
    whole = source.change_of(bundled, path)
    part = cut(whole, row, column, SIZE)
    rows, columns = part.weight.shape
    largest = largest_at(part.added, SEEN)
    windows = {
        axis: lv.Window(size, SEEN, at)
        for axis, size, at in zip("RC", (rows, columns), largest, strict=True)
        if size > SEEN
    }
    r, c = ("R" if "R" in windows else ""), ("C" if "C" in windows else "")
    row_names = [str(row + i) for i in range(rows)]
    column_names = [str(column + j) for j in range(columns)]
    square = {"row_labels": row_names, "col_labels": column_names, "windows": (r, c)}
    values = {
        "W": part.weight,
        "B": part.b,
        "A": part.a,
        "BA": part.product,
        "added": part.added,
        "sum": part.weight + part.added,
    }
    more = {name: dict(square) for name in ("W", "BA", "added", "sum")}
    more["W"] |= {"role": "residual"}
    more["B"] = {"row_labels": row_names, "windows": (r, ""), "role": "value"}
    more["A"] = {"col_labels": column_names, "windows": ("", c), "role": "value"}
    more["BA"] |= {"op": lv.matmul("B", "A")}
    scaled = words.scaled.format(scale=part.scale)
    more["added"] |= {"op": lv.scaled("BA", part.scale, scaled), "role": "key"}
    limit = float(np.abs(values["sum"]).max())
    more["sum"] |= {"op": lv.add("W", "added"), "limit": limit, "role": "residual"}
    matrices = tuple(
        lv.Matrix(key, values[key], words.labels[key], words.formulas.get(key, ""), **more[key])
        for key in NAMES
    )
    return matrices, windows


def _picture(state: kit.PageState, known: tuple[str, str, str], row: int, column: int) -> None:
    matrices, windows = matrices_of(*known, row, column)
    change = source.change_of(*known)
    rank = len(change.a)
    line = {"rank": rank, "scale": change.scale, "alpha": change.scale * rank}
    appear = (["W"], ["B", "A"], ["BA"], ["added"], ["sum"])
    captions = [text.format(**line) for text in words.steps.values()]
    shapes = {matrix.name: np.shape(matrix.values) for matrix in matrices}
    first = _first(matrices)

    def settled() -> None:
        sent = st.session_state[KEY]
        kept = kit.link_of(sent.get("pinned")) or kit.NONE
        state["loracell"] = "" if kept == first else kept
        if (places := sent.get("window")) is not None:
            state["loraseen"] = seen(places, windows)
        step = sent.get("step")
        if isinstance(step, int) and 0 <= step < len(captions):
            state["lorastep"] = step

    pinned = lv.cell_of(state["loracell"] or first, shapes)
    if state["loraseen"] or pinned is None:
        now = read_windows(state["loraseen"], windows)
    else:
        now = windows_around(pinned, matrices, windows)
    lv.matrix_view(
        matrices,
        key=KEY,
        layout=LAYOUT,
        steps=list(zip(appear, captions, strict=True)),
        step=state["lorastep"],
        pinned=pinned,
        narrow=NARROW,
        windows=now,
        on_change=settled,
    )


def seen(places: Iterable[tuple[str, int]], windows: Mapping[str, lv.Window]) -> str:
    """Return where the windows stand as a link says it; nothing where none was moved.

    places: as the picture reports them, without those that stand at the beginning.

    >>> seen([("R", 3)], {"R": lv.Window(32, 6, 3), "C": lv.Window(32, 6, 9)})
    'C.0'
    """
    at = dict.fromkeys(windows, 0) | dict(places)
    return ",".join(f"{name}.{at[name]}" for name, view in windows.items() if at[name] != view.at)


def windows_around(
    cell: lv.Cell, matrices: Iterable[lv.Matrix], windows: Mapping[str, lv.Window]
) -> dict[str, lv.Window]:
    """Return the windows moved as far as it takes to see a cell."""
    moved = dict(windows)
    axes = next(matrix.windows for matrix in matrices if matrix.name == cell.name)
    for name, place in zip(axes, (cell.row, cell.column), strict=True):
        if name:
            window = windows[name]
            at = max(place - window.show + 1, min(place, window.at))
            moved[name] = lv.Window(window.size, window.show, at)
    return moved


def _first(matrices: tuple[lv.Matrix, ...]) -> str:
    """The cell that is kept at first: that of the largest change in the part."""
    (added,) = (matrix.values for matrix in matrices if matrix.name == "added")
    row, column = np.unravel_index(int(np.abs(added).argmax()), added.shape)
    return f"sum.{row}.{column}"


def _told(change: Change, row: int, column: int) -> None:
    part = cut(change, row, column, SIZE)
    rows, columns = change.weight.shape
    line = words.part.format(
        rows=rows,
        columns=columns,
        shown_rows=part.weight.shape[0],
        shown_columns=part.weight.shape[1],
        row=row,
        column=column,
        rank=len(change.a),
    )
    share = source.length(change.added) / source.length(change.weight)
    size = words.size.format(
        weight=float(np.abs(part.weight).max()),
        added=float(np.abs(part.added).max()),
        share=kit.percent(share),
    )
    kit.prose(f"{line} {size}")


def question(rows: int, columns: int, rank: int) -> kit.Question:
    """Ask how many numbers LoRA trains for a matrix; of equal mistakes one is offered."""
    right = rank * (rows + columns)
    wrong = {"product": rows * columns, "one": rank * columns, "cells": rank * rank}
    known = {"rows": rows, "columns": columns, "rank": rank, "right": right}
    known |= {"whole": rows * columns, "share": kit.percent(right / (rows * columns))}
    offered = {right: words.ask_right}
    for name, number in wrong.items():
        offered.setdefault(number, words.ask_wrong[name])
    return kit.Question.among(words.ask, offered, right, **known)


def _code(name: str, path: str, change: Change) -> None:
    row, column = largest_at(change.added, 1)
    numbers = (change.weight[row, column], change.added[row, column])
    kit.show_code(
        [change_at, cut],
        words.snippet_matrices.format(
            base_name=base().name, name=name, path=path, row=row, column=column
        ),
        f"{change.weight.shape} {change.a.shape} {change.b.shape}\n"
        f"{numbers[0]:.4f} + {numbers[1]:.4f}",
    )
