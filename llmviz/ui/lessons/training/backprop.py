"""Chapter "Backpropagation": a small network by hand, one weight nudged, a trained model."""

from __future__ import annotations

import streamlit as st

from llmviz.ui import codec
from llmviz.ui.lessons.training import backprop_nudge, backprop_small, backprop_trained
from llmviz.ui.lessons.training.parts import draw_part
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
    draw_part(state, "how", words, DRAW)
