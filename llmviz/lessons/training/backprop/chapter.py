"""Chapter "Backpropagation": a small network by hand, one weight nudged, a trained model."""

from __future__ import annotations

import streamlit as st

from llmviz.lessons.training.backprop import nudge as backprop_nudge
from llmviz.lessons.training.backprop import small as backprop_small
from llmviz.lessons.training.backprop import trained as backprop_trained
from llmviz.lessons.training.backprop import words
from llmviz.ui.chapter_parts import draw_part
from llmviz.ui.lesson import section
from llmviz.ui.state import PageState

DRAW = {
    "small": backprop_small.draw,
    "nudge": backprop_nudge.draw,
    "trained": backprop_trained.draw,
}


@st.fragment
def draw(state: PageState) -> None:
    """Show the chapter."""
    section(words.intro)
    draw_part(state, "how", words.intro.title, words.looks, DRAW, needs_engine=True)
