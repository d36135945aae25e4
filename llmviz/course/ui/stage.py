"""The parts of a page around its picture: the stage itself, the looks at it, what lies under it."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any
from urllib.parse import parse_qsl

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from llmviz.course.components.looks.view import Piece
from llmviz.course.components.looks.view import looks as looks_view
from llmviz.course.document import marks
from llmviz.course.ui.contents import package_of
from llmviz.course.ui.furniture import words
from llmviz.course.ui.guess import keep_head, take_head
from llmviz.course.ui.state import PageState


def stage(name: str, *, stays: bool = False) -> DeltaGenerator:
    """Return the block of the chapter's picture, whose top waits for the question about it.

    stays: it stays in view above its looks, where the window is large enough; for a picture of at
    most half a screen.
    """
    block = st.container(key=f"lv-{'stays' if stays else 'stage'}-{name}")
    keep_head(block)
    return block


def source(state: PageState, *, opened: bool = False) -> None:
    """Show, in one line, what all chapters of the lesson read: its text and its model.

    opened: it stands open, for a chapter whose picture is the learner's own text.
    """
    page = f"{package_of(state.page)}.page"
    if find_spec(page):
        with st.expander(words.source, expanded=opened, icon=":material/edit_note:"):
            importlib.import_module(page).draw(state)


def looks(state: PageState, passages: Sequence[str], /, key: str, **values: Any) -> None:
    """Show passages whose links put the page into a state; `values` fill their slots.

    A link is written `[at step 1,300](look: step=1300)`: controls and values as an address has
    them. One that the page cannot take, such as the 40th of 12 tokens, is said and left.
    """
    pieces = [
        [
            Piece(text, look, bool(look) and _is_there(state, look))
            for text, look in marks.looks(line)
        ]
        for line in (passage.format(**values) for passage in passages)
    ]

    def go() -> None:
        state.look(st.session_state[key].get("look") or "")

    take_head()  # a question below is about something else
    looks_view(pieces, key=key, on_look=go)


def _is_there(state: PageState, look: str) -> bool:
    try:
        return all(
            state[name] == state.params[name].read(written)
            for name, written in parse_qsl(look, keep_blank_values=True)
        )
    except (KeyError, ValueError):
        return False
