"""Warnings and refusals: the only place that shows a text which somebody else may have written.

What they quote (a value of a link, a line of an error, a name of a folder) is shown letter for
letter: no link, picture, colour or formula in it comes alive. A test sees to it that no page calls
`st.warning` or `st.error` with such a text by itself.
"""

from __future__ import annotations

import streamlit as st

from llmviz.ui.text import escape_markdown

REPORT_ICON, BLOCK_ICON = ":material/report:", ":material/block:"


def warn(text: str, icon: str = REPORT_ICON) -> None:
    """Show a warning as plain text."""
    st.warning(escape_markdown(text), icon=icon)


def refuse(reason: ValueError | str) -> None:
    """Show why something was not done, in plain text: an error's one clear line."""
    st.error(escape_markdown(str(reason)), icon=BLOCK_ICON)
