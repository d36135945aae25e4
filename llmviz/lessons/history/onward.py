"""The ways from this lesson into others, with the learner's name and the GPT of names."""

from __future__ import annotations

import streamlit as st

from llmviz.lessons.history import words
from llmviz.ui.prose import prose, quote

MODEL = "names-gpt"
PLACES: dict[str, dict[str, str]] = {
    "attention": {"source": "model", "part": "heads"},
    "transformer": {"part": "block", "of": "model"},
    "training": {"part": "race"},
}


def link_onward(name: str) -> None:
    """Show links into the lessons on attention, the transformer and training."""
    prose(words.ELSEWHERE.format(name=quote(name)))
    with st.container(horizontal=True):
        for page, label in words.LINKS.items():
            more = {} if page == "training" else {"text": name, "model": MODEL}
            st.page_link(
                f"pages/{page}.py",
                label=label,
                icon=":material/arrow_forward:",
                query_params=PLACES[page] | more,
            )
