"""All terms, or those that contain some letters."""

import streamlit as st

from llmviz.course.lessons.glossary import words
from llmviz.course.ui import kit
from llmviz.course.ui.glossary import terms


def draw(state: kit.PageState) -> None:
    """Show the terms whose name or meaning contains the wanted letters."""
    kit.text_input(state, "find", words.find, placeholder=words.example)
    wanted = state["find"].strip().lower()
    matches = [
        f"{kit.bold(term)} — {meaning}"
        for term, meaning in terms().items()
        if wanted in term.lower() or wanted in meaning.lower()
    ]
    if not matches:
        st.info(words.none)
    kit.prose("\n\n".join(matches))
