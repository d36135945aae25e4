"""Chapter "Quantization": a row on a grid, each matrix, the whole model, training on the grid."""

from __future__ import annotations

import streamlit as st

from llmviz.lessons.efficiency.quantization import (
    layers,
    loss,
    row,
    setting,
    speed,
    staircase,
    texts,
    training,
    words,
)
from llmviz.ui import engine
from llmviz.ui.lesson import section
from llmviz.ui.model_on_text import no_model
from llmviz.ui.notices import refuse
from llmviz.ui.state import PageState


@st.fragment
def draw(state: PageState) -> None:
    """Show the chapter."""
    section(words.TITLE, words.TEXT.format(model=setting.MODEL))
    if setting.MODEL not in engine.names():
        no_model(setting.MODEL)
    else:
        _on_the_model(state)
    staircase.draw(state)
    training.draw(state)
    speed.draw(state)


def _on_the_model(state: PageState) -> None:
    scheme = setting.draw(state)
    try:
        row.draw(state, scheme)
        text = layers.draw(state, scheme)
        loss.draw(state, scheme)
        if text is not None:
            texts.draw(state, scheme, text)
    except ValueError as error:  # a group that does not divide a row of this model
        refuse(error)
