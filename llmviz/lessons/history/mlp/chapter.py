"""Chapter "MLP": a window over the name, a map of letters that learns, batch norm on and off."""

from __future__ import annotations

import streamlit as st

from llmviz.lessons.history import named_model, typed_name
from llmviz.lessons.history.mlp import film, words
from llmviz.lessons.history.params import NAME
from llmviz.ui.chapter_parts import draw_part
from llmviz.ui.engine_ready import engine_ready
from llmviz.ui.lesson import section, seen
from llmviz.ui.state import PageState


@st.fragment
def draw(state: PageState) -> None:
    """Show the chapter."""
    section(words.intro)
    parts = {"window": _window, "map": _map}
    draw_part(state, "mlp", words.look, words.looks, parts)


def _window(state: PageState) -> None:
    name = typed_name.ask(state)
    bundled = named_model.load("names-mlp") if name else None
    if bundled is not None:
        from llmviz.lessons.history.mlp import window  # with torch, which has come by now

        window.draw(state, bundled, name)
        seen(words.end, **window.end(bundled, name))


def _map(state: PageState) -> None:
    if engine_ready():
        film.draw(state)
        name = typed_name.read(state[NAME.key]).letters
        bundled = named_model.load("names-mlp") if name else None
        if bundled is not None:
            from llmviz.lessons.history.mlp import window  # with torch, which has come by now

            seen(words.end, **window.end(bundled, name))
