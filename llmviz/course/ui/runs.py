"""The runs of this visit: one manager for the server, and which runs are this visitor's."""

from __future__ import annotations

import atexit
import functools
import time
from collections.abc import Callable
from typing import ParamSpec, TypeVar

import streamlit as st

from llmviz.course import streamlit_parts
from llmviz.course.ui import browser, origin
from llmviz.course.ui.classes import owner_of
from llmviz.course.ui.furniture import words
from llmviz.course.ui.rerun import once
from llmviz.runs import store
from llmviz.runs.manager import RunManager
from llmviz.runs.visitors import RunState
from llmviz.training.config import OWN_TEXT

SHOWN = 100  # kept runs that a page offers at most: the newest, of those that are searched for
SEARCH = "_runs.search"  # in the session: what the name of a kept run must have in it
FRESH = 1.0  # seconds for which all visitors use what was found of the kept runs
_MOST = 10_000  # results that are remembered
_IN = " in "  # in a visitor's name: what stands behind it is the browser
P = ParamSpec("P")
R = TypeVar("R")
_managers: list[RunManager] = []  # the one of this server, once somebody asked for it


@st.cache_resource(show_spinner=False)
def manager() -> RunManager:
    """The manager of all runs of this server.

    Raises ValueError where the setting LLMVIZ_MAX_RUNS is no number.
    """
    manager_of_runs = RunManager(_is_here)
    atexit.register(manager_of_runs.close)
    _managers.append(manager_of_runs)
    return manager_of_runs


def close() -> None:
    """Let every run be saved and end, because the server ends."""
    for manager_of_runs in _managers:
        manager_of_runs.close()


def visitor() -> str:
    """Who this is: the session's own name, and its browser where that is another by now."""
    session = streamlit_parts.session() or ""
    if not session or not _managers:
        return session
    here, secret = origin.of_session(session), browser.secret()
    owner = f"{session}{_IN}{owner_of(secret)}" if browser.is_another() else session
    _managers[-1].know(owner, secret, here.address, own=here.own)
    return owner


def mine() -> list[RunState]:
    """This visitor's runs as they stand, the newest first; none before a first run."""
    return _managers[-1].runs(visitor()) if _managers else []


def kept_names() -> list[str]:
    """The names of the kept runs that a page offers: the newest, of those searched for."""
    return _found()[:SHOWN]


def search() -> None:
    """Show a search by name, where there are more kept runs than a page offers."""
    count = len(_kept_names())
    if count <= SHOWN:
        return
    wanted = st.text_input(words.runs["find"], key=SEARCH, max_chars=60, icon=":material/search:")
    line = words.runs["found" if wanted.strip() else "all"]
    st.caption(line.format(found=f"{len(_found()):,}", all=f"{count:,}", shown=SHOWN))


def _found() -> list[str]:
    wanted = str(st.session_state.get(SEARCH, "")).strip().casefold()
    return [name for name in _kept_names() if wanted in name.casefold()]


def recently(look_up: Callable[P, R]) -> Callable[P, R]:
    """Let all visitors use for a second what a function found of the kept runs.

    Looking into all of them again at each rerun would cost more than drawing the page. A run that
    comes to RUNS or goes from it is seen at once, by the time of that folder; and so is what was
    not found before. A visitor's own run is looked at each time.
    """
    known: dict[object, tuple[float, R]] = {}

    @functools.wraps(look_up)
    def looked_up(*given: P.args, **more: P.kwargs) -> R:
        if any(store.is_private(str(name)) for name in given):
            return look_up(*given, **more)
        key = (given, tuple(more.items()), store.root(), store.changed())
        since, found = known.get(key, (0.0, None))
        if found and time.monotonic() - since < FRESH:
            return found
        if len(known) >= _MOST:
            known.clear()
        found = look_up(*given, **more)
        known[key] = time.monotonic(), found
        return found

    return looked_up


@once
@recently
def _kept_names() -> list[str]:
    return store.kept_runs()


def come_back(name: str) -> bool:
    """Take up a run that a link names, after F5 say; return whether it is this visitor's.

    In another browser than the one that began it, it is only looked at.
    """
    plain = store.split_name(name)[0]
    if not _managers or not store.is_private(plain) or _managers[-1].run(plain) is None:
        return False
    return _managers[-1].adopt(plain, visitor())


def known(name: str) -> RunState | None:
    """Return a run of this server by its name without prefix; no manager is begun for it."""
    return _managers[-1].run(name) if _managers else None


def label(run: RunState) -> str:
    """What a run is called on this page: a kept one by its name, others by number and content."""
    if run.kept:
        return run.name
    return f"{run.number} · {run.plan['model']} on {corpus_label(run.plan['corpus'])}"


def corpus_label(corpus: str) -> str:
    """What a corpus is called; a learner's own text has a file's name in its plan."""
    return "your text" if corpus == OWN_TEXT else corpus


def _is_here(visitor: str) -> bool:
    """Whether a visitor has the window open; asked from the manager's own thread."""
    return streamlit_parts.is_open(visitor.partition(_IN)[0]) is not False
