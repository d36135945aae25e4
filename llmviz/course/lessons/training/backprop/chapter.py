"""Chapter "Backpropagation": a small network by hand, one weight nudged, a trained model."""

import streamlit as st

from llmviz.course.lessons.training.backprop import nudge as backprop_nudge
from llmviz.course.lessons.training.backprop import small as backprop_small
from llmviz.course.lessons.training.backprop import trained as backprop_trained
from llmviz.course.lessons.training.backprop import words
from llmviz.course.ui import kit

DRAW = {
    "small": backprop_small.draw,
    "nudge": backprop_nudge.draw,
    "trained": backprop_trained.draw,
}


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show the chapter."""
    kit.section(words.intro)
    kit.draw_part(state, "how", words.intro.title, words.looks, DRAW, needs_engine=True)
