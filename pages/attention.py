"""Attention: built up step by step, broken on purpose, and watched in trained models."""

import streamlit as st

from llmviz.ui import codec
from llmviz.ui.lesson import Chapter, chapters, lesson
from llmviz.ui.lessons.attention import words
from llmviz.ui.lessons.attention.gate import engine_ready
from llmviz.ui.lessons.attention.params import PARAMS
from llmviz.ui.shell import text_box
from llmviz.ui.state import PageState, page_state

CONTROLS = [codec.choice("part", "why", list(words.CHAPTERS)), *PARAMS]


@st.fragment  # a new sentence runs this alone, not the app around it
def body(state: PageState) -> None:
    """Show the text and the chapters; their imports wait until the title is on its way."""
    text_box(state, height=80)
    if not engine_ready():
        return
    from llmviz.ui.lessons.attention import heads, ladder, masking, scaling, trained, why

    draw = {
        "why": why.draw,
        "steps": ladder.draw,
        "masks": masking.draw,
        "scale": scaling.draw,
        "heads": heads.draw,
        "trained": trained.draw,
    }
    chapters([Chapter(key, title, draw[key]) for key, title in words.CHAPTERS.items()], state)


state = page_state("attention", CONTROLS, with_text=False)
lesson(words.TITLE, words.PROMISE, state)
body(state)
