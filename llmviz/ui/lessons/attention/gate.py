"""Waiting for torch, which every chapter needs, behind the title."""

from __future__ import annotations

import streamlit as st

from llmviz.ui import engine
from llmviz.ui.lessons.attention import words
from llmviz.ui.notices import refuse

PATIENCE = 120  # seconds


def engine_ready() -> bool:
    """Load torch unless it is there; say what is wrong where that fails."""
    if engine.ready():
        return True
    with st.spinner(words.LOADING):
        engine.start()
        engine.wait(PATIENCE)
    if not engine.ready():
        refuse(words.ENGINE_FAILED.format(problem=engine.problem()))
    return engine.ready()
