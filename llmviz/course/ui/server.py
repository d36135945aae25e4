"""What the server's process does once for all its visitors.

`lifespan` is for the start and the end. `app.py` runs again for every change of every visitor; what
it calls here works at the first call only.
"""

from __future__ import annotations

import asyncio
import gc
import importlib
import logging
import math
import os
import signal
import socket
import threading
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import cache

import psutil

from llmviz.course import streamlit_parts
from llmviz.course.ui import engine, runs
from llmviz.course.ui.contents import Lesson
from llmviz.course.ui.documents import check_changed_documents

_LOG = logging.getLogger(__name__)
FILES = 4096  # open files that a class of some hundred windows stays far below
# What takes long to import and belongs to no chapter alone; the first is what a model without
# numbers needs, which says what a run will cost.
AHEAD = ("torch._dynamo", "llmviz.training.estimate")
LOADING = 300.0  # seconds that the imports may take on a slow machine
QUIET = 0.3  # seconds without a visitor's script after which something may be computed ahead
LOOK = 0.02  # seconds between two looks for one
ACCEPTED = 1.0  # seconds after the start by which those are accepted who waited for it


@cache
def freeze_imports() -> None:
    """Let the garbage collector pass over what is imported by now, once.

    It lives as long as the server, and the collector need not look at it again. Whether that was
    done must not be asked of `gc.get_freeze_count()`: it walks all frozen objects (45 ms).
    """
    gc.collect()
    gc.freeze()


def send_at_once() -> int:
    """Switch Nagle's algorithm off for this process's connections; return for how many sockets.

    Nagle's algorithm (RFC 896) holds a small packet back until the one before it is acknowledged,
    and a receiver may wait 40 ms with that. asyncio switches it off only for sockets that were
    made with TCP's protocol number, and Streamlit's was not. Who connects to a listening socket
    from now on inherits the option; who did so before, and waits to be accepted, does not. Where
    a system does not tell the sockets' descriptors (Windows), nothing is changed.
    """
    changed = 0
    try:
        connections = psutil.Process().net_connections(kind="tcp")
    except (psutil.Error, OSError):  # a system that does not say
        return 0
    for connection in connections:
        if connection.fd < 0:
            continue
        try:
            # A duplicate: closing it leaves the server's own descriptor open, and both share
            # the socket's options.
            with socket.socket(fileno=os.dup(connection.fd)) as own:
                own.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        except OSError:  # closed in between
            continue
        changed += 1
    return changed


def allow_many_files() -> int:
    """Raise this process's own limit of open files as far as the system allows; return the limit.

    Some systems begin with 256, which a hundred windows use up. 0 where there is no such limit.
    """
    try:
        import resource
    except ImportError:  # Windows
        return 0
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = FILES if hard == resource.RLIM_INFINITY else min(FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        except (OSError, ValueError):  # a system that has another limit besides
            return soft
        return wanted
    return soft


def load_ahead(lessons: Sequence[Lesson]) -> threading.Thread:
    """Do in the background what the first visitor of each chapter would wait for.

    That is to import it, and to call its function `ahead` where it has one. If that yields between
    its parts, visitors come before the rest.
    """
    thread = threading.Thread(target=_load, args=(lessons,), name="ahead", daemon=True)
    thread.start()
    return thread


class Turn:
    """When what is computed ahead may go on: nobody's script has run for a moment.

    A script shares the interpreter with all other threads, so that a visitor waits for those that
    only compute.
    """

    def __init__(self) -> None:
        self._visited = -math.inf  # on the monotonic clock: when a script was last seen running

    def wait(self) -> None:
        """Wait for it; returns at once where no visitor is about."""
        while True:
            now = time.monotonic()
            if streamlit_parts.scripts_run():
                self._visited = now
            elif now - self._visited >= QUIET:
                return
            time.sleep(LOOK)


def _load(lessons: Sequence[Lesson]) -> None:
    engine.start()
    engine.wait(LOADING)
    turn = Turn()
    try:
        if engine.ready():  # else the pages say why
            _first_pages(lessons)
    finally:  # what is wrong with a page is said with its place
        right = check_pages(lessons, turn.wait)
    if not right or not engine.ready():
        return
    for name in AHEAD:
        turn.wait()
        importlib.import_module(name)
    for lesson in lessons:
        for module in lesson.modules():
            turn.wait()
            for _ in getattr(module, "ahead", _nothing)() or ():
                turn.wait()
    gc.collect()
    gc.freeze()


def _first_pages(lessons: Sequence[Lesson]) -> None:
    """Import what any page needs, and load the models."""
    for lesson in lessons:
        lesson.modules()
    figure = importlib.import_module("plotly.graph_objects")
    # Plotly builds its classes with the first figure of each kind.
    figure.Figure(
        [figure.Bar(), figure.Scatter(), figure.Heatmap()], layout={"title": ""}
    ).to_json()
    for name in engine.names():
        try:
            engine.load(name)
        except ValueError as problem:
            _LOG.warning("%s", problem)
    gc.collect()
    gc.freeze()


def check_pages(lessons: Sequence[Lesson], between: Callable[[], None] = lambda: None) -> bool:
    """Return whether the controls and documents of all pages are right; else end the server.

    No page may have two controls of one name, and each document fits its code; what is wrong is
    said with its place. It is asked beside the start, not before it: it takes a moment.
    between: called again and again meanwhile, so that others may come before.
    """
    try:
        for lesson in lessons:
            lesson.params()
        check_changed_documents(lessons, between)
    except ValueError as problem:
        _LOG.critical("%s", problem)
        signal.raise_signal(signal.SIGTERM)
        return False
    return True


def _nothing() -> None:
    """What is done ahead for a chapter that asks for nothing."""


def lifespan(lessons: Sequence[Lesson]) -> Callable[[object], AbstractAsyncContextManager[None]]:
    """Return what happens when the server starts, before anybody is served, and when it ends."""

    @asynccontextmanager
    async def serving(_app: object) -> AsyncIterator[None]:
        send_at_once()
        allow_many_files()
        streamlit_parts.ask_nobody_outside()
        # Before the first visitor: Plotly takes it from the loaded modules, also half imported.
        importlib.import_module("pandas")
        load_ahead(lessons)
        again = asyncio.get_running_loop().call_later(ACCEPTED, send_at_once)
        try:
            yield
        finally:
            again.cancel()
            await asyncio.to_thread(runs.close)

    return serving
