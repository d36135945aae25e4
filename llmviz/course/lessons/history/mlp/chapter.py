"""Chapter "MLP": a window over the name, a map of letters that learns, batch norm on and off."""

import streamlit as st

from llmviz.course.lessons.history import named_model, typed_name
from llmviz.course.lessons.history.mlp import film, words
from llmviz.course.lessons.history.params import NAME
from llmviz.course.ui import kit
from llmviz.course.ui.engine_ready import engine_ready


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show the chapter."""
    kit.section(words.intro)
    parts = {"window": _window, "map": _map}
    kit.draw_part(state, "mlp", words.look, words.looks, parts)


def _window(state: kit.PageState) -> None:
    name = typed_name.ask(state)
    bundled = named_model.load("names-mlp") if name else None
    if bundled is not None:
        from llmviz.course.lessons.history.mlp import window  # with torch, which has come by now

        window.draw(state, bundled, name)
        kit.seen(words.end, **window.end(bundled, name))


def _map(state: kit.PageState) -> None:
    if engine_ready():
        film.draw(state)
        name = typed_name.read(state[NAME.key]).letters
        bundled = named_model.load("names-mlp") if name else None
        if bundled is not None:
            from llmviz.course.lessons.history.mlp import (
                window,  # with torch, which has come by now
            )

            kit.seen(words.end, **window.end(bundled, name))
