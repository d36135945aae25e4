"""A stop of the hour: picture, question, two looks and the way on; all else waits to be asked for.

A lesson's page says that it shows such a stop (`begin`). The first section of the chapter then
draws the way on in its place, and nothing behind it is computed until somebody wants it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st

from llmviz.course.ui import stage
from llmviz.course.ui.code import OPENED
from llmviz.course.ui.furniture import words
from llmviz.course.ui.guess import FOLDED
from llmviz.course.ui.state import PageState

LOOKS = 2  # passages of a folded stop
_BELOW = "_ends_below"  # in the session: a stop held something back, and its end stands below it


def begin(end: Callable[[], None] | None) -> None:
    """Say that what is drawn next is a folded stop, and what its end is; None: it is not folded."""
    st.session_state[FOLDED] = None if st.session_state.get(OPENED) else end
    st.session_state[_BELOW] = False


def ends_below() -> None:
    """Say that a chapter was drawn to its end without a fold, and that the page shows its end."""
    st.session_state[_BELOW] = True


def rest() -> None:
    """Fold what a chapter draws from here on, where it is a folded stop."""
    end = st.session_state.get(FOLDED)
    if end is not None:
        if st.session_state[_BELOW]:
            st.rerun()  # which takes away the end that stands below
        end()
        st.stop()


def more(open_all: Callable[[], None]) -> None:
    """Show the button behind which the rest of a stop waits."""
    if st.button(words.more, key="_more", icon=":material/expand_more:", type="tertiary"):
        open_all()
        st.rerun()


def folded() -> bool:
    """Whether a folded stop is drawn, which has only what belongs to the hour."""
    return st.session_state.get(FOLDED) is not None


def looks(state: PageState, passages: Sequence[str], /, key: str, **values: Any) -> None:
    """Show the looks of a chapter, of a folded stop the first two (see `stage.looks`)."""
    stage.looks(state, passages[: LOOKS if folded() else None], key, **values)
