"""Chapter "WaveNet": the tree of fused pairs above a letter of the learner's name."""

from __future__ import annotations

import streamlit as st

from llmviz.lessons.history import named_model, typed_name
from llmviz.lessons.history.other_lessons import link_onward
from llmviz.lessons.history.wavenet import words
from llmviz.ui.lesson import section, seen
from llmviz.ui.state import PageState


@st.fragment
def draw(state: PageState) -> None:
    """Show the chapter."""
    section(words.intro)
    name = typed_name.ask(state)
    bundled = named_model.load("names-wavenet") if name else None
    if bundled is not None:
        from llmviz.lessons.history.wavenet import tree  # with torch, which has come by now

        numbers = tree.draw(state, bundled, name)
        link_onward(name)
        if numbers:
            seen(words.end, **numbers)
