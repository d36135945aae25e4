"""Waiting for torch, which every chapter needs, behind the title."""

from __future__ import annotations

import streamlit as st

from llmviz.course.ui import engine
from llmviz.course.ui.furniture import words
from llmviz.course.ui.notices import refuse

PATIENCE = 120  # seconds


def engine_ready() -> bool:
    """Load torch unless it is there; say what is wrong where that fails."""
    if engine.ready():
        return True
    with st.spinner(words.engine["loading"]):
        engine.start()
        engine.wait(PATIENCE)
    if not engine.ready():
        problem = engine.problem() or words.engine["slow"]
        refuse(words.engine["failed"].format(problem=problem))
    return engine.ready()
