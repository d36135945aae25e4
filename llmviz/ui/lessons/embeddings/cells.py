"""Matrices whose kept cell stands in the link, for the chapters of this lesson."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import streamlit as st

from llmviz.ui import components as lv
from llmviz.ui.state import PageState

NONE = "-"  # written where the learner let go of the cell that a picture opens with


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
    pinned = lv.cell_of(state[control] or first, shapes)

    def settled() -> None:
        kept = st.session_state[key].get("pinned")
        written = ".".join(map(str, kept)) if kept else NONE
        state[control] = "" if written == first else written

    lv.matrix_view(matrices, layout=layout, key=key, pinned=pinned, on_change=settled, **more)
