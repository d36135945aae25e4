"""Chapter "All of them": one name through nine models, their measures, and when each came."""

from __future__ import annotations

import streamlit as st

from llmviz.lessons.history.all import axes, name, when, words
from llmviz.study.nine_models import TRAINED
from llmviz.ui import engine
from llmviz.ui.chapter_parts import draw_part
from llmviz.ui.engine_ready import engine_ready
from llmviz.ui.state import PageState

PARTS = {"name": name.draw, "axes": axes.draw, "when": when.draw}


@st.fragment
def draw(state: PageState) -> None:
    """Show the chapter."""
    missing = [one for one in TRAINED if one not in engine.names()]
    if missing:
        command = f"python -m llmviz checkpoints make {missing[0]}"
        text = words.missing.format(names=", ".join(missing), command=command)
        st.info(text, icon=":material/download:")
        return
    if engine_ready():
        draw_part(state, "all", words.looks_label, words.looks, PARTS)
