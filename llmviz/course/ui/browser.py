"""A secret that each browser keeps, by which a visitor is known again after F5.

The secret is made here, goes to the browser as data of a component that puts it into a cookie, and
comes back with the next connection. It stands in no address and no link, so a visitor with
a link can look at a run and not take it over.
"""

from __future__ import annotations

import re
import secrets

import streamlit as st

from llmviz.course.components._shared.transport import nothing, pack, renderer

COOKIE = "llmviz_browser"
_KEY = "browser_secret"  # of the component
_NEW = "_browser_secret"  # in the session: the secret of a browser that had none
_SECRET = re.compile(r"[A-Za-z0-9_-]{43}")  # 256 bits


def secret() -> str:
    """The secret of this visitor's browser."""
    reported = st.session_state.get(_KEY) or {}
    return checked(st.context.cookies.get(COOKIE)) or checked(reported.get("kept")) or _new()


def remember() -> None:
    """Have the browser keep its secret, unless it came with one; nothing is seen of it.

    Of two windows that open at once the first to write wins, and the other hears of its secret.
    """
    if checked(st.context.cookies.get(COOKIE)):
        return
    data = pack({"name": COOKIE, "secret": _new()})
    renderer("browser_secret")(data=data, key=_KEY, on_kept_change=nothing)


def checked(value: object) -> str:
    """What a browser says is its secret, if it is of the right form, else an empty text."""
    return value if isinstance(value, str) and _SECRET.fullmatch(value) else ""


def _new() -> str:
    return st.session_state.setdefault(_NEW, secrets.token_urlsafe(32))
