"""Chapter "LoRA": a frozen matrix and its small change, what a rank holds, what it saves."""

import streamlit as st

from llmviz.course.lessons.finetuning.lora import (
    matrices,
    race,
    ranks,
    savings,
    source,
    switching,
    words,
)
from llmviz.course.ui import kit
from llmviz.finetuning.plan import BASE


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show the chapter."""
    kit.section(words.intro)
    if not kit.models_here(BASE):
        return
    try:
        for name in words.adapters:
            source.beside(name)
    except ValueError as error:
        kit.refuse(error)
        return
    name, path, shown = matrices.draw(state)
    shown = shown and ranks.draw(state, name, path, race.trained(state))
    savings.draw(state)
    race.draw(state)
    switching.draw(state, name)
    if shown:
        kit.seen(words.end, **ranks.end_numbers(name, path))
