"""All terms, or those that contain some letters."""

import streamlit as st

from llmviz.ui.glossary import TERMS
from llmviz.ui.prose import bold, prose
from llmviz.ui.state import PageState
from llmviz.ui.text_field import text_input


def draw(state: PageState) -> None:
    """Show the terms whose name or meaning contains the wanted letters."""
    text_input(state, "find", "Find a term", placeholder="softmax")
    wanted = state["find"].strip().lower()
    matches = {
        term: meaning
        for term, meaning in sorted(TERMS.items(), key=lambda item: item[0].lower())
        if wanted in term.lower() or wanted in meaning.lower()
    }
    if not matches:
        st.info("No term contains these letters. Try fewer letters.")
    prose("\n\n".join(f"{bold(term)} — {meaning}" for term, meaning in matches.items()))
