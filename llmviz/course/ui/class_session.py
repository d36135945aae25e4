"""This window's session in a class: whether it leads or follows, and what goes to and fro."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import streamlit as st

from llmviz.course import streamlit_parts
from llmviz.course.ui import browser
from llmviz.course.ui.classes import Classes, OpenClass, Place, Refused, code_of, owner_of

# In an address: the code of the class that a window follows, and that it is for a projector.
CODE, PROJECTOR = "class", "projector"
CLASS, NOTICE = "_class", "_class_notice"  # in the session
_PROJECTS = "_projects"  # in the session
_TOLD = "_class_answers_told"  # in the session: as in Place, for its presenter and who follows
_PLACE = "_class_shown_place"  # in the session of a presenter: what the class looks at
_LED_TO = "_class_place"  # in the session: where the class has just gone, until a page takes it
_LEFT = "_class_left"  # in the session: codes of classes that this window has left
CLASSES = Classes()


@dataclass
class ClassSession:
    """A window's part in a class.

    owner: the browser that has it, by a hash of its secret. seen: the version of the place that it
    shows.
    """

    code: str
    key: str
    leads: bool
    owner: str
    follows: bool = True  # a window that looks around does not
    seen: int = -1


def current() -> ClassSession | None:
    """Return this window's session, if it has one; in another browser a session leads no more."""
    session = st.session_state.get(CLASS)
    if session is not None and session.leads and session.owner != owner_of(browser.secret()):
        return None
    return session


def join(group: OpenClass, *, leads: bool) -> None:
    """Take a session in a class."""
    st.session_state.pop(NOTICE, None)
    st.session_state.get(_LEFT, set()).discard(group.code)
    st.session_state[CLASS] = ClassSession(group.code, group.key, leads, owner_of(browser.secret()))


def window() -> str:
    """The name of this window's session."""
    return streamlit_parts.session() or ""


def put(key: str, value: bool | None) -> None:
    """Keep a value in this window's session."""
    st.session_state[key] = value


def leave(notice: str = "") -> None:
    """Give up this window's session. notice: the name of the text that is then shown."""
    session = current()
    if session is not None:
        st.session_state.setdefault(_LEFT, set()).add(session.code)
    for name in (CLASS, _TOLD, _PLACE, _LED_TO):
        st.session_state.pop(name, None)
    if notice:
        st.session_state[NOTICE] = notice, 0


def asked_for() -> str | None:
    """Return the code of the class that the address wants to join.

    A class that was left may still stand there, and in what a browser had sent before it heard.
    """
    code = st.query_params.get(CODE)
    if code is not None and code_of(code) in st.session_state.get(_LEFT, ()):
        del st.query_params[CODE]
        return None
    return code


def projects() -> bool:
    """Whether this window is for a projector."""
    return bool(st.session_state.get(_PROJECTS))


def project(on: bool) -> None:
    """Say whether this window is for a projector."""
    st.session_state[_PROJECTS] = on


def project_as(said: str | None) -> None:
    """Take what a link says of it, unless this window has been told otherwise since."""
    if said == "1":
        st.session_state.setdefault(_PROJECTS, True)


def in_address() -> dict[str, str]:
    """What an address says of its window, which is as it was after F5: not of its page."""
    session = current()
    of_window = {CODE: session.code} if session is not None and not session.leads else {}
    return of_window | ({PROJECTOR: "1"} if projects() else {})


def of_page(address: Mapping[str, str]) -> dict[str, str]:
    return {key: value for key, value in address.items() if key not in (CODE, PROJECTOR)}


def show(page: str, query: dict[str, str], texts: dict[str, str]) -> None:
    """Let the class see what this window looks at, if it leads one."""
    session = current()
    if session is None or not session.leads:
        return
    st.session_state[_PLACE] = place = Place(page, query, texts, _told(session))
    try:
        if not CLASSES.show(session.code, window(), place):
            check_lead(session)
    except Refused as refused:
        st.session_state[NOTICE] = refused.reason, refused.count


def _told(session: ClassSession) -> dict[str, int]:
    """How far answers are shown to all; a presenter who comes back finds it in the class."""
    if _TOLD not in st.session_state:
        group = CLASSES.find(session.code)
        st.session_state[_TOLD] = dict(group.place.told) if group and group.place else {}
    return st.session_state[_TOLD]


def tell_all(name: str, far: int) -> None:
    """Show the class the answer to a question so far: 0 not at all, 1 the answer, 2 the reason."""
    session = current()
    if session is None or not session.leads:
        return
    st.session_state[_TOLD] = _told(session) | {name: far}
    place = st.session_state.get(_PLACE)
    if place is not None:
        show(place.page, place.query, place.texts)


def answer_shown(name: str) -> int:
    """Return how far the answer to a question is shown to all in this window's class."""
    return st.session_state.get(_TOLD, {}).get(name, 0) if current() is not None else 0


def check_lead(session: ClassSession) -> None:
    """Give up this window's session where it leads its class no more."""
    group = CLASSES.find(session.code)
    if group is None or group.key != session.key:
        leave("ended")
    elif group.window != window():
        leave("led_elsewhere")


def lead_to(place: Place) -> None:
    """Let the page of a place take it when it is next drawn."""
    st.session_state[_LED_TO], st.session_state[_TOLD] = place, place.told


def is_led(page: str) -> bool:
    """Whether the class has just gone to this page."""
    place = st.session_state.get(_LED_TO)
    return place is not None and place.page == page


def take_place(page: str) -> Place | None:
    """Return where the class has gone on this page, once."""
    place = st.session_state.pop(_LED_TO, None)
    return place if place is not None and place.page == page else None
