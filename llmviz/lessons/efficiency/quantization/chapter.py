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
from llmviz.quantization.scheme import Scheme
from llmviz.ui.common import choose
from llmviz.ui.lesson import section, seen
from llmviz.ui.model_picker import models_here
from llmviz.ui.notices import refuse
from llmviz.ui.state import PageState


@st.fragment
def draw(state: PageState) -> None:
    """Show the chapter."""
    section(words.intro, model=setting.MODEL)
    choose(state, "qview", words.view, words.views, parts=True)
    if state["qview"] == "training":
        staircase.draw(state)
        training.draw(state)
        seen(words.end, first=staircase.end(int(state["stairbits"]), state["stairrate"]))
        return
    if not models_here(setting.MODEL):
        return
    scheme = setting.draw(state)
    try:
        if state["qview"] == "row":
            row.draw(state, scheme)
        else:
            _whole_model(state, scheme)
    except ValueError as error:  # a group that does not divide a row of this model
        refuse(error)
        return
    if first := loss.end(scheme.bits):
        seen(words.end, first=first)


def _whole_model(state: PageState, scheme: Scheme) -> None:
    text = layers.draw(state, scheme)
    loss.draw(state, scheme)
    if text is not None:
        texts.draw(state, scheme, text)
    speed.draw(state)
