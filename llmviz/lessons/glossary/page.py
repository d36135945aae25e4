"""All terms, or those that hold some letters."""

import streamlit as st

from llmviz.ui.glossary import TERMS
from llmviz.ui.prose import prose
from llmviz.ui.state import PageState


def draw(state: PageState) -> None:
    """Show the terms in which, or in whose meaning, the wanted letters stand."""
    st.text_input("Find a term", placeholder="softmax", **state.bind("find"))
    wanted = state["find"].strip().lower()
    matches = {
        term: meaning
        for term, meaning in sorted(TERMS.items(), key=lambda item: item[0].lower())
        if wanted in term.lower() or wanted in meaning.lower()
    }
    if not matches:
        st.info("No term holds these letters. Try fewer of them.")
    prose("\n\n".join(f"**{term}** — {meaning}" for term, meaning in matches.items()))
