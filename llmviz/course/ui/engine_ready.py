"""Waiting for torch, which every chapter needs, behind the title."""

from __future__ import annotations

import streamlit as st

from llmviz.course.ui import engine
from llmviz.course.ui.notices import refuse

PATIENCE = 120  # seconds
LOADING = "Loading torch and the models …"
ENGINE_FAILED = "torch could not be loaded: {problem}"
TOO_SLOW = "it takes longer than two minutes; reload the page to try again"


def engine_ready() -> bool:
    """Load torch unless it is there; say what is wrong where that fails."""
    if engine.ready():
        return True
    with st.spinner(LOADING):
        engine.start()
        engine.wait(PATIENCE)
    if not engine.ready():
        refuse(ENGINE_FAILED.format(problem=engine.problem() or TOO_SLOW))
    return engine.ready()
