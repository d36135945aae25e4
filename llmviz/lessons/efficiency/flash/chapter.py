"""Chapter "Flash attention": softmax in tiles, what that saves, and what it takes here."""

from __future__ import annotations

import streamlit as st

from llmviz.lessons.efficiency.flash import film, moved, times, words
from llmviz.ui.lesson import section
from llmviz.ui.state import PageState


@st.fragment
def draw(state: PageState) -> None:
    """Show the chapter."""
    section(words.intro)
    film.draw(state)
    moved.draw(state)
    times.draw(state)
