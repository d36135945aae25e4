"""Chapter "RNN, GRU, LSTM": one state over the letters, its gates, its gradient, its units."""

from collections.abc import Callable
from functools import partial

import streamlit as st

from llmviz.course.lessons.history import named_model, typed_name
from llmviz.course.lessons.history.params import NAME
from llmviz.course.lessons.history.recurrent import gradient, parallel, words
from llmviz.course.ui import engine, kit


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show the chapter."""
    kit.section(words.intro)
    kit.choose(state, "cell", words.cell, words.cells)
    parts: dict[str, Callable[[kit.PageState], None]] = {
        name: partial(_on_name, draw_part)
        for name, draw_part in (("state", _strips), ("past", gradient.draw), ("units", _roles))
    }
    parts["time"] = lambda state: parallel.draw(words.cells[state["cell"]], state["cell"])
    kit.draw_part(state, "recurrent", words.look, words.looks, parts)
    name = typed_name.read(state[NAME.key]).letters
    model = f"names-{state['cell']}"
    if name and engine.ready() and model in engine.names():
        loaded = engine.load(model).model
        kit.seen(
            words.end,
            model=words.cells[state["cell"]],
            units=loaded.config.hidden_size or loaded.config.n_embd,
            name=kit.quote(name),
            times=kit.count(len(name) + 1, "time"),
            cell=words.end_cell[loaded.layers[0].n_state > 1],
        )


def _on_name(draw_part: Callable, state: kit.PageState) -> None:
    """Show a part that looks at the name with the chosen model."""
    name = typed_name.ask(state)
    bundled = named_model.load(f"names-{state['cell']}") if name else None
    if bundled is not None:
        draw_part(state, bundled, name)


def _strips(*given) -> None:
    from llmviz.course.lessons.history.recurrent import strips  # with torch, which has come by now

    strips.draw(*given)


def _roles(*given) -> None:
    from llmviz.course.lessons.history.recurrent import roles  # with torch, which has come by now

    roles.draw(*given)
