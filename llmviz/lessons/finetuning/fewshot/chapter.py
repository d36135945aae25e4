"""Chapter "Zero, one, few examples": rules that only the prompt shows, for two models."""

from __future__ import annotations

import streamlit as st

from llmviz.finetuning.plan import BASE
from llmviz.lessons.finetuning.fewshot import accuracy, heads, prompt, words
from llmviz.lessons.finetuning.tuned_model import base, tuned
from llmviz.ui.lesson import section
from llmviz.ui.model_on_text import models_here
from llmviz.ui.notices import refuse
from llmviz.ui.prose import prose
from llmviz.ui.state import PageState


@st.fragment
def draw(state: PageState) -> None:
    """Show the chapter."""
    section(words.intro)
    if not models_here(BASE):
        return
    try:
        tuned(prompt.TUNED)
    except ValueError as error:
        refuse(error)
        return
    prompt.guess_question()
    try:
        asked = prompt.draw(state)
        heads.looks(base().version, asked)
    except ValueError as error:
        refuse(error)
    else:
        prose(prompt.report(asked, bool(state["ownrule"].strip())))
        prompt.bars(asked, own=bool(state["ownrule"].strip()))
        prompt.code(asked)
        heads.draw(state, asked)
    accuracy.draw(state)
