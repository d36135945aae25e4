"""Chapter "The cache": what it holds, what it takes, and what it makes of reading and writing."""

import streamlit as st

from llmviz.course.lessons.efficiency.cache import contents, sizes, words, work
from llmviz.course.lessons.efficiency.cache.params import WRITTEN
from llmviz.course.ui import kit


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show the chapter."""
    kit.section(words.intro, written=WRITTEN)
    bundled, cache = contents.draw(state)
    kit.chapter_link("transformer", "loop", words.loop_link, ":material/sync:")
    sizes.draw(state)
    if bundled is not None:
        work.draw(state, bundled)
    if cache is not None:
        kit.seen(words.end, **contents.end(cache, state["cachelength"]))
