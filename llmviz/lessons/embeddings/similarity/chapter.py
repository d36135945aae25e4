"""Chapter "How alike": two vectors, a list of words, neighbours, analogies."""

from __future__ import annotations

import streamlit as st

from llmviz.lessons.embeddings import sources
from llmviz.lessons.embeddings.similarity import (
    analogies,
    mistake,
    neighbours,
    pair,
    wordlist,
    words,
)
from llmviz.similarity import VectorTable
from llmviz.ui.common import choose, refuse
from llmviz.ui.lesson import section, seen
from llmviz.ui.state import PageState

DRAW = {
    "pair": pair.draw,
    "list": wordlist.draw,
    "neighbours": neighbours.draw,
    "analogy": analogies.draw,
}


@st.fragment
def draw(state: PageState) -> None:
    """Show the chapter."""
    section(words.intro)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        choose(state, "look", words.look, words.looks, parts=True)
        table = sources.choose(state)
    if table is None:
        return
    _looked(state, table)


@st.fragment
def _looked(state: PageState, table: VectorTable) -> None:
    """What is compared: its controls do not draw the rest of the chapter again."""
    found = ""
    try:
        found = DRAW[state["look"]](state, table)
    except ValueError as error:  # a row of zeros has no cosine, say
        refuse(error)
    if state["look"] == "pair":
        mistake.draw()
    if found:
        seen(words.end, found=found)
