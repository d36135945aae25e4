"""What the visitor of a browser guessed, by chapter: F5 on the way to its end loses nothing.

It lies in this process's memory, for the browsers that came last.
"""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock

import streamlit as st

from llmviz.course.ui import browser

# Of a chapter's first question: what was asked, the guess, "" for none, what is right, and whether
# the guess was.
Made = tuple[str, str, str, bool | None]
BROWSERS = 500
MADE = "_hour_guesses"  # in the session
_kept: OrderedDict[str, dict[str, Made]] = OrderedDict()
_lock = Lock()


def made() -> dict[str, Made]:
    """Return by chapter what this visitor guessed; what is added there is kept."""
    if MADE not in st.session_state:
        with _lock:
            st.session_state[MADE] = _kept.setdefault(browser.secret(), {})
            _kept.move_to_end(browser.secret())
            while len(_kept) > BROWSERS:
                _kept.popitem(last=False)
    return st.session_state[MADE]
