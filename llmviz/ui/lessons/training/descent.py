"""Chapter "Descent": one weight, a surface, a neuron and a language model go down their slopes."""

from __future__ import annotations

import streamlit as st

from llmviz.ui import codec
from llmviz.ui.lessons.training import (
    descent_letters,
    descent_model,
    descent_one,
    descent_surface,
)
from llmviz.ui.lessons.training.parts import draw_part
from llmviz.ui.lessons.training.words import descent as words
from llmviz.ui.state import PageState

DRAW = {
    "one": descent_one.draw,
    "surface": descent_surface.draw,
    "letters": descent_letters.draw,
    "model": descent_model.draw,
}
PARAMS = [
    codec.choice("look", "one", list(words.LOOKS)),
    *descent_one.PARAMS,
    *descent_surface.PARAMS,
    *descent_letters.PARAMS,
    *descent_model.PARAMS,
]


@st.fragment
def draw(state: PageState) -> None:
    """Show the chapter."""
    draw_part(state, "look", words, DRAW)
