"""A class from a visitor's side: opening and joining one, leading it, following it.

A follower's browser asks about three times a second for one number, the version of the presenter's
place, by a request of its own: a rerun for each of these questions would cost some ten times as
much. It asks for a rerun when that number has changed.

What the presenter points at lights up on the pages of those who follow. It lies in a small file
beside that of the class, RUNS/.classes/CODE.at, which is gone with it. It is data of the
presenter's browser: followers compare it with their own page, and put nothing of it there.
"""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import streamlit as st
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from streamlit.navigation.page import StreamlitPage

from llmviz.course import streamlit_parts
from llmviz.course.components.class_watch.view import class_watch
from llmviz.course.components.projector.view import projector
from llmviz.course.document import ENGLISH, beside, language
from llmviz.course.document.marks import unmarked
from llmviz.course.ui import (
    browser,
    class_question,
    class_session,
    course,
    languages,
    notices,
    origin,
)
from llmviz.course.ui.class_session import CLASSES, CODE, NOTICE, PROJECTOR, ClassSession, put
from llmviz.course.ui.classes import (
    POINTED,
    Classes,
    OpenClass,
    Refused,
    Tries,
    code_of,
    owner_of,
    written_or_refused,
)
from llmviz.course.ui.job_pools import import_jobs
from llmviz.course.ui.own_machine import LOCAL
from llmviz.files.paths import HOME
from llmviz.files.whole import write_whole
from llmviz.processes.background import Job

SECONDS = 10.0  # after which a light goes out of which the presenter's browser says no more
MOST = 2000  # bytes that name an element


class ClassPointer:
    """The lights of all classes of a server. now: the clock of the files' times, in seconds."""

    def __init__(self, classes: Classes, now: Callable[[], float] = time.time) -> None:
        self._classes, self._now = classes, now

    def put(self, code: str, key: str, secret: str, said: bytes) -> bool:
        """Light what a presenter's browser names, or nothing; return whether it leads the class.

        Raises ValueError: what it says is too long, or is no object of JSON.
        """
        group = self._classes.known_by(code, key)
        if group is None or not secret or group.owner != owner_of(secret):
            return False
        if len(said) > MOST:
            raise ValueError(f"what is pointed at has at most {MOST} bytes; got {len(said)}")
        try:
            target = json.loads(said)
        except RecursionError as deep:
            raise ValueError("what is pointed at is too deep") from deep
        if target is not None and not isinstance(target, dict):
            raise ValueError("what is pointed at is an object or null")
        with written_or_refused():
            if target is None:
                self._path(group.code).unlink(missing_ok=True)
            else:
                text = json.dumps(target, allow_nan=False)  # one line that a browser can read
                write_whole(self._path(group.code), lambda path: path.write_text(text, "utf-8"))
        return True

    def of(self, code: str) -> str:
        """Return what is lit in an open class, as a line of JSON; empty where nothing is."""
        with suppress(OSError):
            path = self._path(code)
            if self._now() - path.stat().st_mtime <= SECONDS:
                return path.read_text("utf-8")
        return ""

    def _path(self, code: str) -> Path:
        return self._classes.path(code).with_suffix(POINTED)


words = beside(__file__, "classroom")
TRIES = Tries()
POINTER = ClassPointer(CLASSES)
GONE = -1  # in place of a version: there is no such class
ICON = ":material/groups:"
PLANS = HOME / "docs" / "teaching"
LOOK = 4.0  # seconds between two looks at how many have joined
BOX = "lv-class"  # the key of the box in which a class begins: it is in view as a whole
# In the session.
_TYPED, _OPEN, _LOOKED, _WHOLE = "_class_code", "_class_box", "_class_looked", "_class_whole"
# Whether the end was asked for, what a class had answered at its end, and the page that is shown.
_ENDING, _SAVED, _SHOWN = "_class_ending", "_class_saved", "_class_shown"
_SHEET = "_class_worksheet"  # a lesson, and the job that makes its worksheet


# ---- what a follower's browser asks


def routes(base: str = "") -> list[Route]:
    """Return where a window asks what is new. base: the path that the whole app lies below."""
    below = f"/{base.strip('/')}".rstrip("/")
    address = f"{below}/class/{{code}}/{{key}}"
    return [Route(address, _version), Route(address, _point, methods=["POST"])]


async def _version(request: Request) -> Response:
    code, key = request.path_params["code"], request.path_params["key"]
    version = CLASSES.version(code, key)
    text = str(GONE if version is None else version)
    lit = "" if version is None else POINTER.of(code)
    text += f"\n{lit}" if lit else ""
    return PlainTextResponse(text, headers={"Cache-Control": "no-store"})


async def _point(request: Request) -> Response:
    said = b""
    async for part in request.stream():
        said += part
        if len(said) > MOST:
            return PlainTextResponse("too long", 413)
    secret = browser.checked(request.cookies.get(browser.COOKIE))
    code, key = request.path_params["code"], request.path_params["key"]
    try:
        led = await run_in_threadpool(POINTER.put, code, key, secret, said)
    except ValueError as rule:
        return PlainTextResponse(str(rule), 400)
    return PlainTextResponse("", 204 if led else 403)


# ---- before a page is drawn


def arrive(page: StreamlitPage) -> None:
    """Take the class_session that the address names, and go where the class has gone.

    page: the one that is to be drawn.
    """
    st.session_state.pop(_WHOLE, None)  # all of it runs now
    st.session_state[_SHOWN] = page.url_path or course.HOME
    class_session.project_as(st.query_params.get(PROJECTOR))
    here = class_session.current()
    code = class_session.asked_for()
    if code is not None and (here is None or here.code != code_of(code)):
        if here is None or not here.leads:
            _join(code)
        if class_session.current() is here:  # no code, or somebody who leads opened a link
            del st.query_params[CODE]
    elif here is None and not st.session_state.get(_LOOKED):
        _lead_again()
    st.session_state[_LOOKED] = True
    here = class_session.current()
    if here is not None and here.leads:
        class_session.check_lead(here)
    elif here is not None and here.follows:
        _follow(here, page.url_path or course.HOME)


def _lead_again() -> None:
    """After F5 this window leads what the window before it led."""
    secret = browser.checked(st.context.cookies.get(browser.COOKIE))
    group = CLASSES.led_by(secret) if secret else None
    if group is not None and not streamlit_parts.is_open(group.window):
        _lead(CLASSES.take, secret)


def _follow(here: ClassSession, shown: str) -> None:
    group = CLASSES.find(here.code)
    if group is None or group.key != here.key:
        class_session.leave("ended")
    elif group.version != here.seen:
        here.seen, place = group.version, group.place
        if place is not None and place.page in {lesson.key for lesson in course.lessons()}:
            class_session.lead_to(place)
            now, wanted = language(), place.query.get(languages.LANGUAGE.key, ENGLISH)
            if now != wanted:  # what stands around the page is said in it, too
                languages.speak(wanted)
            if place.page != shown:
                st.switch_page(f"pages/{place.page}.py")
            if now != wanted:
                st.rerun()


# ---- what is pressed


def _whole(press: Callable[[], None]) -> Callable[[], None]:
    """What a button of the box does, after which all of the page runs."""

    def pressed() -> None:
        press()
        st.session_state[_WHOLE] = True

    return pressed


def _origin() -> origin.Origin:
    return origin.of_session(class_session.window())._replace(browser=browser.secret())


def _join(code: str) -> None:
    try:
        group = TRIES.find(CLASSES, code, _origin())
    except Refused as refused:
        st.session_state[NOTICE] = refused.reason, refused.count
        return
    CLASSES.join(group, browser.secret() or class_session.window())
    class_session.join(group, leads=False)


def _join_typed() -> None:
    if class_session.current() is None and st.session_state.get(_TYPED, "").strip():
        _join(st.session_state[_TYPED])


def _lead(find: Callable[..., OpenClass | None], secret: str, *more: Any) -> None:
    try:
        group = find(secret, class_session.window(), *more)
    except Refused as refused:
        st.session_state[NOTICE] = refused.reason, refused.count
        return
    if group is not None:
        class_session.join(group, leads=True)


def _open() -> None:
    _lead(CLASSES.open, browser.secret(), _origin())


def _take() -> None:
    _lead(CLASSES.take, browser.secret())


def _end() -> None:
    here = class_session.current()
    if here is not None and here.leads:
        st.session_state[_SAVED] = here.code, class_question.table(here.code)
        try:
            CLASSES.end(here.code, class_session.window())
        except Refused as refused:
            st.session_state[NOTICE] = refused.reason, refused.count
            return
        class_session.leave()


def _look(*, around: bool) -> None:
    here = class_session.current()
    if here is not None:
        here.follows, here.seen = not around, -1


# ---- what is drawn


@st.fragment  # what is typed and opened here runs this alone, what comes of it the whole page
def box() -> None:
    """Show in the sidebar how to lead and how to join a class, or the class that is led here."""
    if st.session_state.get(_WHOLE):
        st.rerun()
    here = class_session.current()
    if here is not None:
        if here.leads:
            _led(here)
        return
    if saved := st.session_state.get(_SAVED):
        code, table = saved
        st.caption(words.ended.format(code=code))
        _save(table)
    if not st.session_state.get(_OPEN):
        st.button(
            words.open_box,
            icon=ICON,
            type="tertiary",
            key="_class_open_box",
            on_click=put,
            args=(_OPEN, True),
        )
        return
    with st.container(border=True, key=BOX):
        with st.form("_class_join", border=False, enter_to_submit=True):
            st.text_input(words.code, key=_TYPED, placeholder=words.hint, max_chars=40)
            st.form_submit_button(words.join, on_click=_whole(_join_typed))
        led = CLASSES.led_by(browser.secret())
        if led is not None:
            st.caption(words.elsewhere.format(code=led.code))
        label, begin = (words.open, _open) if led is None else (words.take, _take)
        st.button(label, icon=ICON, on_click=_whole(begin), key="_class_lead")
        st.caption(words.about)
        _projector_switch()
        st.button(
            words.close_box,
            type="tertiary",
            key="_class_close_box",
            on_click=put,
            args=(_OPEN, None),
        )


def _led(here: ClassSession) -> None:
    with st.container(border=True):
        st.metric(words.code, here.code)
        st.caption(words.leads)
        link, reached = reachable(link_of(here.code))
        st.code(link, language=None, wrap_lines=True)
        if not reached:
            st.caption(words.not_reached)
        st.fragment(partial(_joined, here.code), run_every=LOOK)()
        st.caption(words.shown)
        _save(partial(class_question.table, here.code))
        _papers()
        if st.button(words.tests, icon=":material/checklist:", type="tertiary", key="_class_tests"):
            course.open_place("before_after")
        _projector_switch()
        _ending()


def _ending() -> None:
    """Ask once before a class is ended."""
    ask: dict[str, Any] = {"on_click": put, "icon": ":material/stop:"}
    if not st.session_state.get(_ENDING):
        st.button(words.end, args=(_ENDING, True), key="_class_ask_end", **ask)
        return
    st.caption(words.end_asks)
    with st.container(horizontal=True):
        st.button(words.end_now, on_click=_whole(_end), type="primary", key="_class_end")
        st.button(words.end_not, on_click=put, args=(_ENDING, None), key="_class_not_end")


def _joined(code: str) -> None:
    count = CLASSES.joined(code)
    st.caption(words.joined[count == 1].format(count=count))


def _save(table: str | Callable[[], str]) -> None:
    st.download_button(
        words.save_answers,
        table,
        "class.csv",
        "text/csv",
        on_click="ignore",
        icon=":material/download:",
        type="tertiary",
        key="_class_csv",
    )


def _papers() -> None:
    """Offer what a teacher has on paper for the lesson that is shown: its plan and a worksheet."""
    shown = st.session_state.get(_SHOWN, "")
    plan = PLANS / f"{'hour' if shown == course.HOME else shown}.md"
    look: dict[str, Any] = {
        "icon": ":material/assignment:",
        "type": "tertiary",
        "on_click": "ignore",
    }
    with suppress(OSError):
        text = plan.read_text("utf-8")
        st.download_button(words.plan, text, plan.name, "text/markdown", key="_class_plan", **look)
    lesson = next((each for each in course.lessons() if each.key == shown), None)
    if lesson is None or not lesson.names:
        return
    job = st.session_state.get(_SHEET)
    if job is None or job[0] != shown:
        press: dict[str, Any] = {"on_click": _print, "args": (shown,), "type": "tertiary"}
        st.button(words.sheet, icon=":material/print:", key="_class_sheet", **press)
    else:
        watched = st.fragment(partial(_sheet, *job), run_every=None if job[1].over else LOOK)
        watched()


def _print(lesson: str) -> None:
    target = "llmviz.course.ui.worksheet:made"
    st.session_state[_SHEET] = lesson, import_jobs().start(target, lesson=lesson, wanted=language())


def _sheet(lesson: str, job: Job) -> None:
    """Show that a worksheet is made, and then offer it, with its answers."""
    if not job.over:
        st.caption(words.sheet_waits)
        return
    if not job.results:
        notices.refuse_failed(job)
    for name, page in job.results:
        st.download_button(
            words.sheets[name],
            page,
            f"{lesson}{'-answers' if name == 'answers' else ''}.html",
            "text/html",
            key=f"_class_sheet_{name}",
            icon=":material/download:",
            type="tertiary",
            on_click="ignore",
        )


def _projector_switch() -> None:
    press: dict[str, Any] = {
        "on_click": _whole(partial(class_session.project, True)),
        "help": words.projector_help,
    }
    st.button(words.projector, icon=":material/present_to_all:", key="_projector", **press)


def before_projector() -> None:
    """Let keys and a light lead through a page for a projector, until its visitor leaves."""
    here = class_session.current()
    address = f"/class/{here.code}/{here.key}" if here is not None and here.leads else ""
    projector(words.projector_words, address, on_leave=partial(class_session.project, False))


def link_of(code: str, url: str | None = None) -> str:
    """Return the link that joins a class. url: of the page that is shown; the browser's own else.

    >>> link_of("AC34DE", "http://host:8501/llmviz/attention?part=steps")
    'http://host:8501/llmviz/?class=AC34DE'
    """
    parts = urlsplit(url or st.context.url or "")
    folder = parts.path.rpartition("/")[0]
    return urlunsplit((parts.scheme, parts.netloc, f"{folder}/", f"{CODE}={code}", ""))


def reachable(link: str) -> tuple[str, bool]:
    """Return a link under an address that others of this network can reach, and whether it is.

    Who opened the app under its machine's own name would give a name that means another machine
    to everybody else.
    """
    parts = urlsplit(link)
    if parts.hostname not in (*LOCAL, "::1"):
        return link, True
    if st.get_option("server.address") in LOCAL:
        return link, False
    others = [host for host in st.get_option("server.allowedHosts") or () if host not in LOCAL]
    host = (others or [address_here()])[0]
    place = f"{host}:{parts.port}" if parts.port else host
    return urlunsplit(parts._replace(netloc=place)), bool(host) and host not in LOCAL


def address_here() -> str:
    """Return this machine's address in its network, "" without one; nothing is sent for that."""
    with suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
        asked.connect(("10.255.255.255", 1))
        return str(asked.getsockname()[0])
    return ""


def bar() -> None:
    """Show above a page that it follows a class, and what a visitor has to know of one."""
    notice = st.session_state.get(NOTICE)
    if notice is not None:
        with st.container(horizontal=True, vertical_alignment="center"):
            reason, count = notice
            notices.inform(unmarked(words.notices[reason].format(count=count)), ICON)
            st.button(words.understood, key="_class_understood", on_click=put, args=(NOTICE, None))
    here = class_session.current()
    if here is None or here.leads:
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        line = words.follows if here.follows else words.around
        st.caption(line.format(code=here.code))
        if here.follows:
            class_watch(f"/class/{here.code}/{here.key}", here.seen)
        label = words.look_around if here.follows else words.come_back
        st.button(
            label,
            key=f"_class_{'around' if here.follows else 'back'}",
            on_click=_look,
            kwargs={"around": here.follows},
        )
        st.button(words.leave, type="tertiary", on_click=class_session.leave, key="_class_leave")
