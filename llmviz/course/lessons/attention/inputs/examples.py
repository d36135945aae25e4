"""The controls of the worked examples: their words, their heads, their cells to edit."""

from collections.abc import Callable

import pandas as pd
import streamlit as st

from llmviz.course.lessons.attention.inputs import sources, words
from llmviz.course.lessons.attention.inputs.sources import Inputs
from llmviz.course.lessons.attention.params import MATRICES, parse_matrix, write_matrix
from llmviz.course.lessons.attention.steps import words as steps_words
from llmviz.course.ui import kit

KEY = "attention.edit"


def to_the_end(state: kit.PageState) -> Callable[[], None]:
    """Return a callback that goes to the last step; a kept cell stays where it still exists."""
    return state.setter(step=-1)


def choose_source(state: kit.PageState, then: Callable[[], None] | None = None) -> None:
    """Show the choice between the examples and a trained model."""
    kit.choose(state, "source", words.source_label, words.sources, then)


def words_box(state: kit.PageState) -> None:
    then = state.setter(x="", step=-1)
    kit.text_input(state, "words", words.journey_label, width=420, then=then)


def choose_heads(state: kit.PageState, width: int) -> int:
    """Show and return the number of heads, one of those that divide the width."""
    options = [n for n in (1, 2, 3, 4) if width % n == 0]
    if state["n"] in (2, 3) and state["n"] not in options:  # the other example's number
        state["n"] = options[1]
    n = kit.keep(state, "n", options[1:] + options[:1])
    st.segmented_control(steps_words.n_head, options, required=True, **state.bind("n"))
    return n


def edited(state: kit.PageState) -> Inputs:
    """Show the editors and return the example with the learner's numbers.

    Raises ValueError: an edited cell is no finite number, or words are unknown.
    """
    own = sources.own_matrices(state)
    # W_O has a part in the last variant only.
    keys = MATRICES if state["rung"] == "heads" else MATRICES[:-1]
    opened = st.session_state.setdefault(f"{KEY}.opened", any(state[key] for key in keys))
    box = kit.fold(steps_words.edit, f"{KEY}.fold", ":material/edit:", opened=opened)
    if box is None:
        for slot in (f"{KEY}.{key}" for key in keys):
            if slot in st.session_state:  # opened again, it starts from the numbers in force
                st.session_state[slot] = ("", "", st.session_state[slot][2])
        return sources.example(state)
    with box:
        kit.prose(steps_words.edit_text)
        problem = None
        for key, place in zip(keys, st.columns(len(keys)), strict=True):
            with place:
                problem = _editor(state, key, own[key]) or problem
        st.button(steps_words.edit_reset, on_click=_reset, args=(state,), icon=":material/undo:")
    if problem:
        raise ValueError(problem)
    return sources.example(state)


def _editor(state: kit.PageState, key: str, own: str) -> str:
    """Show one matrix as a table to edit; return what is wrong with it, or nothing.

    The table keeps what it started from while it is edited: new starting values would drop what
    was typed.
    """
    slot = f"{KEY}.{key}"
    known, base, count = st.session_state.get(slot, ("", "", 0))
    now = state[key] or own
    if not known or now != known or len(base.split(";")) != len(own.split(";")):
        base, count = now, count + 1
    rows = parse_matrix(base)
    table = pd.DataFrame(rows, columns=[str(j) for j in range(len(rows[0]))])
    st.caption(words.matrix_names[key])
    given = st.data_editor(
        table,
        key=f"{slot}.{state['source']}.{count}",
        hide_index=True,
        column_config={name: st.column_config.NumberColumn(step=None) for name in table.columns},
    )
    try:
        text = checked(given)
    except ValueError as rule:
        st.session_state[slot] = (now, base, count)
        return steps_words.edit_bad.format(name=words.matrix_names[key], rule=rule)
    st.session_state[slot] = (text, base, count)
    wanted = "" if text == write_matrix(parse_matrix(own)) else text
    if wanted != state[key]:
        state[key] = wanted
    return ""


def checked(table: pd.DataFrame) -> str:
    """Return an edited table as a matrix is written in links.

    Raises ValueError: a cell is empty, no number, or not finite.
    """
    cells = [["" if pd.isna(cell) else str(cell) for cell in row] for row in table.to_numpy()]
    return write_matrix(parse_matrix(";".join(",".join(row) for row in cells)))


def _reset(state: kit.PageState) -> None:
    for key in MATRICES:
        state[key] = ""
        st.session_state.pop(f"{KEY}.{key}", None)
