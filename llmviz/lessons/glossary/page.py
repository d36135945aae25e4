"""All terms, or those that contain some letters."""

import streamlit as st

from llmviz.ui import kit
from llmviz.ui.glossary import TERMS


def draw(state: kit.PageState) -> None:
    """Show the terms whose name or meaning contains the wanted letters."""
    kit.text_input(state, "find", "Find a term", placeholder="softmax")
    wanted = state["find"].strip().lower()
    matches = {
        term: meaning
        for term, meaning in sorted(TERMS.items(), key=lambda item: item[0].lower())
        if wanted in term.lower() or wanted in meaning.lower()
    }
    if not matches:
        st.info("No term contains these letters. Try fewer letters.")
    kit.prose("\n\n".join(f"{kit.bold(term)} — {meaning}" for term, meaning in matches.items()))
