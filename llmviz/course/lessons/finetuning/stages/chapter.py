"""Chapter "The stages": how the models here were made, and what each training moves."""

import streamlit as st

from llmviz.course.lessons.finetuning.stages import before_after, figures_of_stages, moving, words
from llmviz.course.ui import kit


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show the chapter."""
    figures_of_stages.draw()
    before_after.draw(state)
    if ends := moving.draw(state):
        kit.seen(words.end, scored=figures_of_stages.scored_line(), **ends)
