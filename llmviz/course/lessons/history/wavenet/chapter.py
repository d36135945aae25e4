"""Chapter "WaveNet": the tree of fused pairs above a letter of the learner's name."""

import streamlit as st

from llmviz.course.lessons.history import named_model, typed_name
from llmviz.course.lessons.history.other_lessons import link_onward
from llmviz.course.lessons.history.wavenet import words
from llmviz.course.ui import kit


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show the chapter."""
    kit.section(words.intro)
    name = typed_name.ask(state)
    bundled = named_model.load("names-wavenet") if name else None
    if bundled is not None:
        from llmviz.course.lessons.history.wavenet import tree  # with torch, which has come by now

        numbers = tree.draw(state, bundled, name)
        link_onward(name)
        if numbers:
            kit.seen(words.end, **numbers)
