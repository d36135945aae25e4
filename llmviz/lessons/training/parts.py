"""The head of a chapter that has several parts: its title, the choice of a part, and that part."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import ModuleType

import streamlit as st

from llmviz.ui.engine_ready import engine_ready
from llmviz.ui.lesson import section
from llmviz.ui.state import PageState


def choose_below_title(
    state: PageState,
    key: str,
    label: str,
    names: Mapping[str, str],
    then: Callable[[], None] | None = None,
) -> None:
    """Show what there is to choose as a row of names; the label is for screen readers."""
    st.pills(
        label,
        required=True,
        wrap=True,
        label_visibility="collapsed",
        **state.named(key, names, then),
    )


def draw_part(
    state: PageState, key: str, words: ModuleType, parts: Mapping[str, Callable[[PageState], None]]
) -> None:
    """Draw the part that `key` of the state names; `words` has TITLE, TEXT and a label in LOOKS."""
    section(words.TITLE, words.TEXT)
    choose_below_title(state, key, words.TITLE, words.LOOKS)
    if engine_ready():
        parts[state[key]](state)
