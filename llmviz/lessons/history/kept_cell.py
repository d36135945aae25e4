"""Matrices whose kept cell stands in the link, for the chapters of this lesson."""

from __future__ import annotations

from typing import Any

import numpy as np

from llmviz import components as lv
from llmviz.ui.matrix_picture import Picture
from llmviz.ui.pinned_cells import bound, link_of
from llmviz.ui.state import PageState


def show(state: PageState, picture: Picture, *, key: str, control: str, **more: Any) -> None:
    """Draw linked matrices; `control` is the state's key of the kept cell, empty for none.

    A cell that no longer exists is let go. `more` goes to the view as it is.
    """
    shapes = {matrix.name: np.shape(matrix.values) for matrix in picture.matrices}
    lv.matrix_view(
        picture.matrices,
        layout=picture.layout,
        steps=picture.steps,
        key=key,
        pinned=lv.cell_of(state[control], shapes),
        windows=picture.windows,
        on_change=bound(state, key, pinned=(control, link_of)),
        **more,
    )
