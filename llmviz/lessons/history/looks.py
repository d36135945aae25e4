"""A chapter with several parts: the choice of one, and that part."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import streamlit as st

from llmviz.ui.state import PageState


def draw_look(
    state: PageState,
    key: str,
    label: str,
    names: Mapping[str, str],
    parts: Mapping[str, Callable[[PageState], None]],
) -> None:
    """Show the choice of a part, which the control `key` holds, and draw that part.

    names: what each is called, in order. parts: what draws each.
    """
    st.pills(
        label,
        list(names),
        format_func=names.__getitem__,
        required=True,
        wrap=True,
        label_visibility="collapsed",
        **state.bind(key),
    )
    parts[state[key]](state)
