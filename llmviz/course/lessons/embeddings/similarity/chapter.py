"""Chapter "How alike": two vectors, a list of words, neighbours, analogies."""

import streamlit as st

from llmviz.course.lessons.embeddings import sources
from llmviz.course.lessons.embeddings.similarity import (
    analogies,
    mistake,
    neighbours,
    pair,
    wordlist,
    words,
)
from llmviz.course.ui import kit
from llmviz.similarity import VectorTable

DRAW = {
    "pair": pair.draw,
    "list": wordlist.draw,
    "neighbours": neighbours.draw,
    "analogy": analogies.draw,
}


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show the chapter."""
    kit.section(words.intro)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        kit.choose(state, "look", words.look, words.looks, parts=True)
        table = sources.choose(state)
    if table is None:
        return
    _looked(state, table)


@st.fragment
def _looked(state: kit.PageState, table: VectorTable) -> None:
    """What is compared: its controls do not draw the rest of the chapter again."""
    found = ""
    try:
        found = DRAW[state["look"]](state, table)
    except ValueError as error:  # a row of zeros has no cosine, say
        kit.refuse(error)
    if state["look"] == "pair":
        mistake.draw()
    if found:
        kit.seen(words.end, found=found)
