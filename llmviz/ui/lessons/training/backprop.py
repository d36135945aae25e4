"""Chapter "Backpropagation": a small network by hand, one weight nudged, a trained model."""

from __future__ import annotations

import streamlit as st

from llmviz.ui import codec
from llmviz.ui.lesson import section
from llmviz.ui.lessons.training import backprop_nudge, backprop_small, backprop_trained, readers
from llmviz.ui.lessons.training.words import backprop as words
from llmviz.ui.state import PageState

DRAW = {
    "small": backprop_small.draw,
    "nudge": backprop_nudge.draw,
    "trained": backprop_trained.draw,
}
PARAMS = [
    codec.choice("how", "small", list(words.LOOKS)),
    *backprop_small.PARAMS,
    *backprop_nudge.PARAMS,
    *backprop_trained.PARAMS,
]


@st.fragment
def draw(state: PageState) -> None:
    """Show the chapter."""
    section(words.TITLE, words.TEXT)
    st.pills(
        words.TITLE,
        list(words.LOOKS),
        format_func=words.LOOKS.__getitem__,
        required=True,
        wrap=True,
        label_visibility="collapsed",
        **state.bind("how"),
    )
    if readers.engine_ready():
        DRAW[state["how"]](state)
