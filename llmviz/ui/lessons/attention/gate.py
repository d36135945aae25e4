"""Waiting for torch, which every chapter needs, behind the title."""

from __future__ import annotations

import streamlit as st

from llmviz.ui import engine
from llmviz.ui.lessons.attention import words

PATIENCE = 120  # seconds


def engine_ready() -> bool:
    """Load torch unless it is there; say what is wrong where that fails."""
    if engine.ready():
        return True
    with st.spinner(words.LOADING):
        engine.start()
        engine.wait(PATIENCE)
    if not engine.ready():
        st.error(words.ENGINE_FAILED.format(problem=engine.problem()), icon=":material/block:")
    return engine.ready()
