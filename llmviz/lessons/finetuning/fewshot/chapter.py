"""Chapter "Zero, one, few examples": rules that only the prompt shows, for two models."""

from __future__ import annotations

import streamlit as st

from llmviz.finetuning.plan import BASE
from llmviz.lessons.finetuning.fewshot import accuracy, heads, prompt, words
from llmviz.lessons.finetuning.tuned_model import base, tuned
from llmviz.ui.lesson import section, seen
from llmviz.ui.model_picker import models_here
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
    ends: dict[str, str] | None = None
    try:
        question = prompt.draw(state)
        for bundled in (tuned(prompt.TUNED), base()):
            heads.looks(bundled, question)
    except ValueError as error:
        refuse(error)
    else:
        if prompt.ask(question):
            own = bool(state["ownrule"].strip())
            prose(prompt.report(question, own))
            ends = prompt.bars(question, own=own)
            prompt.code(question)
            heads.draw(state, question)
    accuracy.draw(state)
    if ends:
        seen(words.end, **ends)
