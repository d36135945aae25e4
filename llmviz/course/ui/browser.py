"""A secret that each browser keeps, by which a visitor is known again after F5.

The secret is made here, goes to the browser as data of a component that puts it into a cookie, and
comes back with the next connection. It stands in no address and no link, so a visitor with
a link can look at a run and not take it over.

Streamlit lets anybody who names a session connect to it again. A connection that does not bring the
cookie of the browser in which the session began has another secret, so nothing of that browser's
is its own: no class to lead, no runs.
"""

from __future__ import annotations

import re
import secrets

import streamlit as st

from llmviz.course.components._shared.transport import nothing, pack, renderer

COOKIE = "llmviz_browser"
_KEY = "browser_secret"  # of the component
_NEW = "_browser_secret"  # in the session: the secret of a browser that had none
_BEGAN = "_browser_began"  # in the session: its first connection, and the secrets that this had
_SECRET = re.compile(r"[A-Za-z0-9_-]{43}")  # 256 bits


def secret() -> str:
    """The secret of this visitor's browser."""
    first, known = _began()
    held = checked(st.context.cookies.get(COOKIE))
    if _connection() == first:
        reported = st.session_state.get(_KEY) or {}
        held = held or checked(reported.get("kept")) or _new()
        known.add(held)
    return held or _new()


def is_another() -> bool:
    """Whether this session has come to another browser than the one in which it began."""
    return secret() not in _began()[1]


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
    here = _connection()
    name = _NEW if here == _began()[0] else f"{_NEW}.{here}"
    return st.session_state.setdefault(name, secrets.token_urlsafe(32))


def _began() -> tuple[str, set[str]]:
    return st.session_state.setdefault(_BEGAN, (_connection(), set()))


def _connection() -> str:
    """What a browser draws for each connection (RFC 6455, 4.1)."""
    return st.context.headers.get("Sec-WebSocket-Key") or ""
