"""Chapter "Counting": the table of letter pairs, counted and learned, and longer contexts."""

from __future__ import annotations

import streamlit as st

from llmviz.lessons.history.counting import dice, longer, network, pairs, words
from llmviz.ui.chapter_parts import draw_part
from llmviz.ui.state import PageState

PARTS = {"pairs": pairs.draw, "dice": dice.draw, "network": network.draw, "longer": longer.draw}


@st.fragment
def draw(state: PageState) -> None:
    """Show the chapter."""
    draw_part(state, "count", words.looks_label, words.looks, PARTS)
