"""The same browser again: a secret that only it keeps, so that a visit can be taken up after F5.

The secret is made here, goes to the browser as data of a component that puts it into a cookie, and
comes back with the next connection. It stands in no address and no link, so whoever is given a link
can look at a run and not take it over.
"""

from __future__ import annotations

import re
import secrets

import streamlit as st

from llmviz.ui.components.wire import nothing, pack, renderer

COOKIE = "llmviz_browser"
_KEY = "browser_secret"  # of the component
_MADE = "_browser_secret"  # in the session: the secret of a browser that had none
_SECRET = re.compile(r"[A-Za-z0-9_-]{43}")  # 256 bits


def secret() -> str:
    """The secret of this visitor's browser."""
    for known in (st.context.cookies.get(COOKIE), (st.session_state.get(_KEY) or {}).get("kept")):
        if isinstance(known, str) and _SECRET.fullmatch(known):
            return known
    return st.session_state.setdefault(_MADE, secrets.token_urlsafe(32))


def remember() -> None:
    """Have the browser keep its secret, unless it came with one; nothing is seen of it.

    Of two windows that open at once the first to write wins, and the other hears of its secret.
    """
    if _SECRET.fullmatch(st.context.cookies.get(COOKIE) or ""):
        return
    made = st.session_state.setdefault(_MADE, secrets.token_urlsafe(32))
    data = pack({"name": COOKIE, "secret": made})
    renderer("browser_secret")(data=data, key=_KEY, on_kept_change=nothing)
