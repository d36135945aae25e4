"""Chapter "Training memory": one step tensor by tensor, what saves memory, any model on paper."""

from __future__ import annotations

import streamlit as st

from llmviz.lessons.efficiency.memory import paper, step, ways, words
from llmviz.ui.lesson import section, seen
from llmviz.ui.state import PageState


@st.fragment
def draw(state: PageState) -> None:
    """Show the chapter."""
    section(words.intro)
    chosen = step.draw(state)
    if chosen is not None:
        ways.draw(state, chosen)
    paper.draw(state)
    numbers = None if chosen is None else step.end(chosen)
    if numbers is not None:
        seen(words.end, **numbers)
