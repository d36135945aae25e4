"""Chapter "Zero, one, few examples": rules that only the prompt shows, for two models."""

import streamlit as st

from llmviz.course.lessons.finetuning.fewshot import accuracy, heads, prompt, words
from llmviz.course.lessons.finetuning.tuned_model import base, tuned
from llmviz.course.ui import kit
from llmviz.finetuning.plan import BASE


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show the chapter."""
    kit.section(words.intro)
    if not kit.models_here(BASE):
        return
    if kit.or_refused(tuned, prompt.TUNED) is None:
        return
    ends: dict[str, str] | None = None
    try:
        question = prompt.draw(state)
        for bundled in (tuned(prompt.TUNED), base()):
            heads.looks(bundled, question)
    except ValueError as error:
        kit.refuse(error)
    else:
        if prompt.ask(question):
            own = bool(state["ownrule"].strip())
            kit.prose(prompt.report(question, own=own))
            ends = prompt.bars(question, own=own)
            prompt.code(question)
            heads.draw(state, question)
    accuracy.draw(state)
    if ends:
        kit.seen(words.end, **ends)
