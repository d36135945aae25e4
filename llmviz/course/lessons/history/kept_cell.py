"""Matrices whose kept cell stands in the link, for the chapters of this lesson."""

from typing import Any

import numpy as np

from llmviz.course import components as lv
from llmviz.course.ui import kit
from llmviz.course.ui.matrix_picture import Picture


def show(state: kit.PageState, picture: Picture, *, key: str, control: str, **more: Any) -> None:
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
        on_change=kit.bound(state, key, pinned=(control, kit.link_of)),
        **more,
    )
