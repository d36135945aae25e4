"""Buttons whose click is not lost when the script starts again above them."""

import time
from typing import Any

import streamlit as st

FRESH = 10.0  # seconds after which a click that nothing answered is forgotten


def clicked(label: str, key: str, **more: Any) -> bool:
    """Show a button and return whether it was clicked and not answered yet.

    A click is noted before the script runs. Streamlit's own answer is lost where something above
    the button says `st.rerun()`, as a run that has just ended does.
    """
    st.button(label, key=key, on_click=_note, args=(key,), **more)
    noted = st.session_state.pop(f"_clicked.{key}", None)
    return noted is not None and time.monotonic() - noted < FRESH


def _note(key: str) -> None:
    st.session_state[f"_clicked.{key}"] = time.monotonic()
