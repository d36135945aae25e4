"""Fields for a learner's text, with the limit of what is read of it.

Under a field that is half full stands how much it may hold; under a fuller one, what is read.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from llmviz.course.ui.notices import inform
from llmviz.course.ui.state import PageState

NEAR = "{all:,} of at most {most:,} characters."
CUT = "This field holds {all:,} characters. The first {most:,} of them are read."


def text_input(
    state: PageState, key: str, label: str, then: Callable[[], None] | None = None, **more: Any
) -> None:
    """Show a field of one line for a control; what is typed beyond its limit stays in the field.

    then: called after a change. more: as `st.text_input` takes it.
    """
    st.text_input(label, disabled=key in state.locked, **more, **state.bind(key, then))
    _say_limit(state, key)


def text_area(
    state: PageState,
    key: str,
    label: str,
    then: Callable[[], None] | None = None,
    *,
    shown: str | None = None,
    **more: Any,
) -> None:
    """Show a field of several lines for a control, as `text_input` shows one of one line.

    shown: what stands there until something is typed, where that is not the control's own text.
    """
    st.text_area(label, disabled=key in state.locked, **more, **state.bind(key, then, shown))
    _say_limit(state, key)


def _say_limit(state: PageState, key: str) -> None:
    typed, most = len(state.whole(key)), state.params[key].most
    if most is not None and typed > most:
        inform(CUT.format(all=typed, most=most), ":material/content_cut:")
    elif most is not None and 2 * typed > most:
        st.caption(NEAR.format(all=typed, most=most))
