"""The head of a chapter that has several parts: its title, the choice of a part, and that part."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import ModuleType

import streamlit as st

from llmviz.lessons.training import model_picker as readers
from llmviz.ui.lesson import section
from llmviz.ui.state import PageState


def draw_part(
    state: PageState, key: str, words: ModuleType, parts: Mapping[str, Callable[[PageState], None]]
) -> None:
    """Draw the part that `key` of the state names; `words` has TITLE, TEXT and a label in LOOKS."""
    section(words.TITLE, words.TEXT)
    st.pills(
        words.TITLE,
        required=True,
        wrap=True,
        label_visibility="collapsed",
        **state.named(key, words.LOOKS),
    )
    if readers.engine_ready():
        parts[state[key]](state)
