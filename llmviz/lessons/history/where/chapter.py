"""Chapter "Where language models stand": six fields inside each other, each with a program."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from llmviz.components.rings.view import rings
from llmviz.document.marks import as_markdown
from llmviz.lessons.history import typed_name
from llmviz.lessons.history.params import NAME
from llmviz.lessons.history.where import drawing, programs, route, sizes, vowels, words
from llmviz.ui import engine
from llmviz.ui.engine_ready import engine_ready
from llmviz.ui.lesson import section, seen
from llmviz.ui.pinned_cells import bound, one_of
from llmviz.ui.prose import prose
from llmviz.ui.question import predict
from llmviz.ui.state import PageState

KEY = "history.where"
EXAMPLES: dict[str, Callable[[PageState, str], None]] = {
    "ai": route.draw,
    "ml": vowels.draw,
    "dl": drawing.classify,
    "generative": drawing.generate,
    "lm": sizes.small,
    "llm": sizes.draw,
}


@st.fragment
def draw(state: PageState) -> None:
    """Show the chapter."""
    section(words.intro)
    names = list(words.rings)

    rings(
        [title for title, _ in words.rings.values()],
        [note for _, note in words.rings.values()],
        key=f"{KEY}.rings",
        label=words.picture,
        chosen=names.index(state["ring"]),
        on_change=bound(state, f"{KEY}.rings", chosen=("ring", one_of(names))),
    )
    needed = [one for one in (programs.MLP, programs.GPT) if one not in engine.names()]
    if needed:
        st.info(as_markdown(programs.missing(needed)), icon=":material/download:")
        return
    if not engine_ready():
        return
    ring = state["ring"]
    prose(programs.about(ring))
    name = typed_name.ask(state) if ring != "llm" else ""
    question = programs.question() if ring == "ai" else None
    shown = question is None or predict(question, f"{KEY}.right", covers=True)
    if name:
        section(words.program)
        programs.draw(state, ring, name)
    if ring not in ("lm", "llm"):
        section(words.example)
    EXAMPLES[ring](state, name)
    if shown:
        seen(words.end, **programs.end(typed_name.read(state[NAME.key]).letters))
