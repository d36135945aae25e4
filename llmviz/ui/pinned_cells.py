"""A place in a picture, such as a cell of a matrix, that stands in the link."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np
import streamlit as st

from llmviz import components as lv
from llmviz.ui.state import PageState

NONE = "-"  # written where the learner let go of the cell that a picture opens with


def link_of(place: Sequence[object] | None) -> str:
    """Return a place as a link has it, which `cell_of` reads again; empty for none.

    >>> link_of(["weights", 1, 2]), link_of(None)
    ('weights.1.2', '')
    """
    return ".".join(map(str, place)) if place else ""


def keeping(
    state: PageState, control: str, key: str, part: Literal["pinned", "chosen"]
) -> Callable[[], None]:
    """Return the callback that puts the place reported by a component into the link.

    key: of the component. part: what it calls the place.
    """

    def settled() -> None:
        state[control] = link_of(st.session_state[key].get(part))

    return settled


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
        kept = link_of(st.session_state[key].get("pinned")) or NONE
        state[control] = "" if kept == first else kept

    lv.matrix_view(matrices, layout=layout, key=key, pinned=pinned, on_change=settled, **more)
