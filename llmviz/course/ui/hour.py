"""A stop of the hour: picture, question, two looks and the way on; all else waits to be asked for.

A lesson's page says that it shows such a stop (`begin`). The first section of the chapter then
draws the way on in its place, and nothing behind it is computed until somebody wants it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st

from llmviz.course.document.marks import unmarked
from llmviz.course.ui import engine, stage
from llmviz.course.ui.code import OPENED
from llmviz.course.ui.get_model import REAL, offer_real_model
from llmviz.course.ui.guess import MADE
from llmviz.course.ui.state import PageState

LOOKS = 2  # passages of a folded stop
MORE = "More about this"
_FOLDED = "_folded"  # in the session: what a folded stop ends with
_BELOW = "_ends_below"  # in the session: a stop held something back, and its end stands below it


def begin(end: Callable[[], None] | None) -> None:
    """Say that what is drawn next is a folded stop, and what its end is; None: it is not folded."""
    st.session_state[_FOLDED] = None if st.session_state.get(OPENED) else end
    st.session_state[_BELOW] = False


def ends_below() -> None:
    """Say that a chapter was drawn to its end without a fold, and that the page shows its end."""
    st.session_state[_BELOW] = True


def guesses() -> dict[str, tuple[str, str, str, bool | None]]:
    """Return by chapter what was asked there, this visitor's guess, "" for none, what is right, and
    whether the guess was: of the first question of each."""
    return st.session_state.setdefault(MADE, {})


def rest() -> None:
    """Fold what a chapter draws from here on, where it is a folded stop."""
    end = st.session_state.get(_FOLDED)
    if end is not None:
        if st.session_state[_BELOW]:
            st.rerun()  # which takes away the end that stands below
        end()
        st.stop()


def more(open_all: Callable[[], None]) -> None:
    """Show the button behind which the rest of a stop waits."""
    if st.button(MORE, key="_more", icon=":material/expand_more:", type="tertiary"):
        open_all()
        st.rerun()


def looks(state: PageState, passages: Sequence[str], /, key: str, **values: Any) -> None:
    """Show the looks of a chapter, of a folded stop the first two (see `stage.looks`)."""
    folded = st.session_state.get(_FOLDED) is not None
    stage.looks(state, passages[: LOOKS if folded else None], key, **values)


def real_look(state: PageState, passage: str, key: str) -> None:
    """Show the look at the same thing in the real model; where that is not here, offer it.

    A folded stop of the hour goes without it.
    """
    if st.session_state.get(_FOLDED) is not None:
        return
    if REAL in engine.obtained():
        stage.looks(state, [passage], key)
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(unmarked(passage))
        offer_real_model(key)
