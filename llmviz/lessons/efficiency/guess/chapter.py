"""Chapter "Guess and check"."""

from __future__ import annotations

import streamlit as st

from llmviz.lessons.efficiency.guess import words
from llmviz.ui.lesson import section
from llmviz.ui.state import PageState


@st.fragment
def draw(state: PageState) -> None:
    """Show the chapter."""
    section(words.TITLE, words.TEXT)
