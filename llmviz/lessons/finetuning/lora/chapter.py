"""Chapter "LoRA": a frozen matrix and its small change, what a rank holds, what it saves."""

from __future__ import annotations

import streamlit as st

from llmviz.finetuning.plan import BASE
from llmviz.lessons.finetuning.lora import matrices, race, ranks, savings, source, switching, words
from llmviz.ui.lesson import section, seen
from llmviz.ui.model_picker import models_here
from llmviz.ui.notices import refuse
from llmviz.ui.state import PageState


@st.fragment
def draw(state: PageState) -> None:
    """Show the chapter."""
    section(words.intro)
    if not models_here(BASE):
        return
    try:
        for name in words.adapters:
            source.beside(name)
    except ValueError as error:
        refuse(error)
        return
    name, path, shown = matrices.draw(state)
    shown = shown and ranks.draw(state, name, path, race.trained(state))
    savings.draw(state)
    race.draw(state)
    switching.draw(state, name)
    if shown:
        seen(words.end, **ranks.end_numbers(name, path))
