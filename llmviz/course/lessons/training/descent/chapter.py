"""Chapter "Descent": gradient descent on one weight, two weights, a neuron, a language model."""

import streamlit as st

from llmviz.course.lessons.training.descent import letters as descent_letters
from llmviz.course.lessons.training.descent import model as descent_model
from llmviz.course.lessons.training.descent import one_weight as descent_one
from llmviz.course.lessons.training.descent import surface as descent_surface
from llmviz.course.lessons.training.descent import words
from llmviz.course.ui import kit

DRAW = {
    "one": descent_one.draw,
    "surface": descent_surface.draw,
    "letters": descent_letters.draw,
    "model": descent_model.draw,
}


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show the chapter."""
    kit.section(words.intro)
    kit.draw_part(state, "look", words.intro.title, words.looks, DRAW, needs_engine=True)
