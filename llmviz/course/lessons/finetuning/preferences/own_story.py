"""The learner's story, ended by the base and by the model of the last run."""

import streamlit as st

from llmviz.course.lessons.finetuning import typed_beginning
from llmviz.course.lessons.finetuning.preferences import words
from llmviz.course.lessons.finetuning.tuned_model import base
from llmviz.course.ui import kit
from llmviz.finetuning.continuations import continuation
from llmviz.models import GPT

TOKENS = 40  # that are written


def draw(state: kit.PageState, trained: GPT | None) -> None:
    """Show both endings; trained: None before a run has ended."""
    kit.section(words.own)
    text = typed_beginning.ask(state, "beginning", words.beginning, words.empty)
    if text is None:
        return
    before = ending(base().model, text)
    after = words.not_yet if trained is None else ending(trained, text)
    for column, label, written in zip(st.columns(2), words.models, (before, after), strict=True):
        with column:
            st.markdown(f"**{label}**")
            st.code(written or words.nothing, language=None, wrap_lines=True)


@kit.kept(64)
def ending(model: GPT, text: str) -> str:
    """Return what a model writes behind a story."""
    return continuation(model, base().tokenizer, text, TOKENS).text.strip()
