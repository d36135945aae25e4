"""Chapter "How alike": two vectors, and the nearest of a whole vocabulary."""

import streamlit as st

from llmviz.course.lessons.embeddings import sources
from llmviz.course.lessons.embeddings.similarity import neighbours, pair, words
from llmviz.course.lessons.embeddings.similarity.vector_sources import BOXES
from llmviz.course.ui import kit
from llmviz.similarity import VectorTable

STAGED = True


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show two rows of numbers and how alike they are, then what goes deeper."""
    kit.prose(words.hook)
    with kit.stage("similarity", stays=False):
        picture = st.container()
        with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
            table = sources.choose(state)
            kit.choose(state, "kind", words.kind, words.kinds)
        BOXES[state["kind"]](state)
    if table is None:
        return
    with picture:
        seen = pair.draw(state, table)
    kit.looks(state, words.looks, "embeddings.similarity.looks")
    kit.section(words.further)
    kit.choose(state, "look", words.look, words.parts, parts=True)
    _looked(state, table, seen)


@st.fragment
def _looked(state: kit.PageState, table: VectorTable, seen: pair.Seen | None) -> None:
    """What is compared: its controls do not draw the rest of the chapter again."""
    found = ""
    try:
        if state["look"] != "pair":
            found = neighbours.draw(state, table)
        elif seen:
            found = pair.sums(state, table, seen)
    except ValueError as error:  # a row of zeros has no cosine, say
        kit.refuse(error)
    if found:
        kit.seen(words.end, found=found)
