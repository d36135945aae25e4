"""The glossary: every term that the lessons explain under the pointer, in one list."""

import streamlit as st

from llmviz.ui import codec
from llmviz.ui.glossary import TERMS
from llmviz.ui.lesson import lesson
from llmviz.ui.prose import prose
from llmviz.ui.state import page_state

state = page_state("glossary", [codec.text("find", "")], with_text=False)
lesson("Glossary", "Each word of the lessons in a sentence or two.", state)

st.text_input("Find a term", placeholder="softmax", **state.bind("find"))
wanted = state["find"].strip().lower()
found = {
    term: meaning
    for term, meaning in sorted(TERMS.items(), key=lambda item: item[0].lower())
    if wanted in term.lower() or wanted in meaning.lower()
}
if not found:
    st.info("No term holds these letters. Try fewer of them.")
prose("\n\n".join(f"**{term}** — {meaning}" for term, meaning in found.items()))
