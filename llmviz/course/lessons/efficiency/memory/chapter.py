"""Chapter "Training memory": one step tensor by tensor, what saves memory, any model on paper."""

import streamlit as st

from llmviz.course.lessons.efficiency.memory import paper, step, ways, words
from llmviz.course.ui import kit


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show the chapter."""
    kit.section(words.intro)
    chosen = step.draw(state)
    if chosen is not None:
        ways.draw(state, chosen)
    paper.draw(state)
    numbers = None if chosen is None else step.end(chosen)
    if numbers is not None:
        kit.seen(words.end, **numbers)
