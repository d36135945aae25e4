"""Matrices whose kept cell stands in the link, for the chapters of this lesson."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import streamlit as st

from llmviz.ui import components as lv
from llmviz.ui.components.matrices import Cell
from llmviz.ui.state import PageState

NONE = "-"  # written where the learner let go of the cell that a picture opens with


def read_cell(written: str, shapes: dict[str, tuple[int, ...]]) -> Cell | None:
    """Return the cell that a link names; None where there is none or it does not exist.

    >>> read_cell("row.0.3", {"row": (1, 4)})
    Cell(name='row', row=0, column=3)
    """
    name, *place = written.split(".")
    if name not in shapes or len(place) != 2 or not all(part.isdecimal() for part in place):
        return None
    row, column = map(int, place)
    rows, columns = shapes[name]
    return Cell(name, row, column) if row < rows and column < columns else None


def show(
    state: PageState,
    matrices: Sequence[lv.Matrix],
    layout: Sequence[Sequence[str | None]],
    *,
    key: str,
    control: str,
    first: str = "",
    **more: Any,
) -> None:
    """Draw linked matrices; `control` is the state's key of the kept cell, `first` opens first.

    An empty control means `first`; a cell that no longer exists is let go. `more` goes to the
    view as it is.
    """
    shapes = {matrix.name: np.shape(matrix.values) for matrix in matrices}
    pinned = read_cell(state[control] or first, shapes)

    def settled() -> None:
        kept = st.session_state[key].get("pinned")
        written = ".".join(map(str, kept)) if kept else NONE
        state[control] = "" if written == first else written

    lv.matrix_view(matrices, layout=layout, key=key, pinned=pinned, on_change=settled, **more)
