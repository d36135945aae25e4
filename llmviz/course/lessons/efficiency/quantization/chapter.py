"""Chapter "Quantization": a row on a grid, each matrix, the whole model, training on the grid."""

import streamlit as st

from llmviz.course.lessons.efficiency.quantization import (
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
from llmviz.course.ui import kit
from llmviz.quantization.scheme import Scheme


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show the chapter."""
    kit.section(words.intro, model=setting.MODEL)
    kit.choose(state, "qview", words.view, words.views, parts=True)
    if state["qview"] == "training":
        staircase.draw(state)
        training.draw(state)
        kit.seen(words.end, first=staircase.end(int(state["stairbits"]), state["stairrate"]))
        return
    if not kit.models_here(setting.MODEL):
        return
    scheme = setting.draw(state)
    try:
        if state["qview"] == "row":
            row.draw(state, scheme)
        else:
            _whole_model(state, scheme)
    except ValueError as error:  # a group that does not divide a row of this model
        kit.refuse(error)
        return
    if first := loss.end(scheme.bits):
        kit.seen(words.end, first=first)


def _whole_model(state: kit.PageState, scheme: Scheme) -> None:
    text = layers.draw(state, scheme)
    loss.draw(state, scheme)
    if text is not None:
        texts.draw(state, scheme, text)
    speed.draw(state)
