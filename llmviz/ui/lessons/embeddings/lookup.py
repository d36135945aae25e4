"""Chapter "The table": the embedding matrix, a row of it, and one-hot times matrix."""

from __future__ import annotations

import streamlit as st

from llmviz.ui import components as lv
from llmviz.ui.lesson import section
from llmviz.ui.lessons.common import refuse
from llmviz.ui.lessons.embeddings import sources
from llmviz.ui.lessons.embeddings.words import lookup as words
from llmviz.ui.state import PageState

KEY = "embeddings.lookup"


@st.fragment
def draw(state: PageState) -> None:
    """Show the chapter."""
    section(words.TITLE, words.TEXT)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        try:
            table = sources.choose(state)
        except ValueError as error:
            refuse(error)
            return
        if table is None:
            return
        st.text_input(words.WORD, width=200, **state.bind("word"))
    try:
        row = table.find(state["word"])
    except ValueError as error:
        refuse(error)
        return
    lv.matrix_view([lv.Matrix("row", table.matrix[row : row + 1])], key=KEY)
