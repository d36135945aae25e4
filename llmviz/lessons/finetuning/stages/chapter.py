"""Chapter "The stages": how the models here were made, and what each training moves."""

from __future__ import annotations

import streamlit as st

from llmviz.lessons.finetuning.stages import before_after, figures_of_stages, moving, words
from llmviz.ui.lesson import seen
from llmviz.ui.state import PageState


@st.fragment
def draw(state: PageState) -> None:
    """Show the chapter."""
    figures_of_stages.draw()
    before_after.draw(state)
    if ends := moving.draw(state):
        seen(words.end, scored=figures_of_stages.scored_line(), **ends)
