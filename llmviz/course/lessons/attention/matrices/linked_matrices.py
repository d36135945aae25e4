"""Linked matrices whose step and kept cell are in the page's link."""

import streamlit as st

from llmviz.course import components as lv
from llmviz.course.lessons.attention.params import DRAWN
from llmviz.course.lessons.attention.steps import words
from llmviz.course.ui import kit
from llmviz.course.ui.matrix_picture import Picture, read_windows

KEPT = "attention.kept"  # session: the cell that the learner has clicked


def show(
    state: kit.PageState,
    picture: Picture,
    key: str,
    *,
    stacked: bool = False,
    control: str = "step",
) -> None:
    """Draw the matrices; the step, the kept cell and the windows are in the link.

    stacked: long rows, one below the other. control: the state's key of the step.
    """
    drawn = {name for row in picture.layout for name in row if name}
    last = len(picture.steps) - 1
    shapes = {matrix.name: matrix.values.shape for matrix in picture.matrices}
    pinned = lv.cell_of(state["cell"], shapes)
    if state["cell"] and pinned is None:
        if state["cell"] != st.session_state.get(
            KEPT
        ):  # a link's; a clicked one goes without a word
            kit.warn(words.no_cell, kit.LINK_ICON)
        state["cell"] = ""

    def settled() -> None:
        settings = st.session_state[key]
        step, kept = settings.get("step", last), settings.get("pinned")
        if picture.steps:
            state[control] = -1 if step in (None, last) else step
        state["cell"] = st.session_state[KEPT] = kit.link_of(kept)
        state["seen"] = kit.windows_link(settings.get("window"))

    everything = {matrix.name for matrix in picture.matrices}
    known = everything & drawn if drawn else everything
    steps = [([name for name in names if name in known], text) for names, text in picture.steps]
    lv.matrix_view(
        picture.matrices,
        layout=picture.layout or None,
        steps=steps,
        key=key,
        step=last if state[control] < 0 else min(state[control], last),
        pinned=pinned,
        stacked=stacked,
        narrow=0 if stacked else DRAWN,
        windows=read_windows(state["seen"], picture.windows),
        on_change=settled,
    )
