"""Chapter "WaveNet": the tree of fused pairs above a letter of the learner's name."""

import streamlit as st

from llmviz.course.lessons.history import typed_name
from llmviz.course.lessons.history.wavenet import words
from llmviz.course.ui import kit


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show the tree, the guess about what neighbours share, and how a node was made."""
    kit.prose(words.hook)
    with kit.stage("wavenet", stays=False):
        picture = st.container()
        name = typed_name.ask(state)
        bundled = typed_name.load("names-wavenet") if name else None
        if bundled is None:
            return
        from llmviz.course.lessons.history.wavenet import tree  # with torch, which has come by now

        at = tree.choose_place(state, name)
        with picture:
            node = tree.draw(state, bundled, name, at)
    tree.below(state, bundled, name, at, node)
