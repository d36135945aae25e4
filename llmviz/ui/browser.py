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
    said = st.session_state.get(_KEY) or {}
    return _checked(st.context.cookies.get(COOKIE)) or _checked(said.get("kept")) or _made()


def remember() -> None:
    """Have the browser keep its secret, unless it came with one; nothing is seen of it.

    Of two windows that open at once the first to write wins, and the other hears of its secret.
    """
    if _checked(st.context.cookies.get(COOKIE)):
        return
    data = pack({"name": COOKIE, "secret": _made()})
    renderer("browser_secret")(data=data, key=_KEY, on_kept_change=nothing)


def _checked(said: object) -> str:
    """What a browser says is its secret, if it is of the right form, else an empty text."""
    return said if isinstance(said, str) and _SECRET.fullmatch(said) else ""


def _made() -> str:
    return st.session_state.setdefault(_MADE, secrets.token_urlsafe(32))
