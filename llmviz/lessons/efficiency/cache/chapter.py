"""Chapter "The cache": what it holds, what it takes, and what it makes of reading and writing."""

from __future__ import annotations

import streamlit as st

from llmviz.lessons.efficiency.cache import contents, sizes, words, work
from llmviz.lessons.efficiency.cache.params import WRITTEN
from llmviz.ui.lesson import section, seen
from llmviz.ui.state import PageState


@st.fragment
def draw(state: PageState) -> None:
    """Show the chapter."""
    section(words.intro, written=WRITTEN)
    bundled, cache = contents.draw(state)
    st.page_link(
        "pages/transformer.py",
        label=words.loop_link,
        icon=":material/sync:",
        query_params={"part": "loop"},
    )
    sizes.draw(state)
    if bundled is not None:
        work.draw(state, bundled)
    if cache is not None:
        seen(words.end, **contents.end(cache, state["cachelength"]))
