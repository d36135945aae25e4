"""What the server's process does once for all its visitors.

`lifespan` is for the start and the end. `app.py` runs again for every change of every visitor; what
it calls here works at the first call only.
"""

from __future__ import annotations

import asyncio
import gc
import importlib
import logging
import os
import pkgutil
import socket
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache

import psutil
from streamlit import net_util

from llmviz.ui import engine, lessons, runs

_LOG = logging.getLogger(__name__)
FILES = 4096  # open files that a class of some hundred windows stays far below
# What takes long in the first opening of a chapter: modules to import, and functions to call.
AHEAD = (
    "torch._dynamo",  # what a model without numbers needs, which says what a run will cost
    "llmviz.training.estimate",
    "pandas",
    "llmviz.ui.lessons.embeddings.word2vec_plan:usual_texts",
    "llmviz.ui.lessons.attention.twins:all_honest",
)
LOADING = 300.0  # seconds that the imports may take on a slow machine


@cache
def freeze_imports() -> None:
    """Take what is imported by now out of the garbage collector's rounds, once.

    It lives as long as the server, and the collector need not look at it again. Whether that was
    done must not be asked of `gc.get_freeze_count()`: it walks all frozen objects (45 ms).
    """
    gc.collect()
    gc.freeze()


@cache
def send_at_once() -> int:
    """Switch Nagle's algorithm off for this process's connections; return for how many sockets.

    Nagle's algorithm (RFC 896) holds a small packet back until the one before it is acknowledged,
    and a receiver may wait 40 ms with that. asyncio switches it off only for sockets that were
    made with TCP's protocol number, and Streamlit's was not. What a listening socket accepts
    inherits the option. Where a system does not tell the sockets' descriptors (Windows), nothing
    is changed.
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


def ask_nobody_outside() -> None:
    """Keep Streamlit from asking the internet for this machine's address.

    It would do so at the start, to print it, and for each page of another origin that wants to
    connect, to compare the two. Such a page is refused all the same.
    """
    net_util.get_external_ip = lambda: None
    net_util.get_internal_ip = lambda: None


def load_ahead() -> threading.Thread:
    """Import in the background what the first visitor of each lesson would wait for."""
    thread = threading.Thread(target=_load, name="ahead", daemon=True)
    thread.start()
    return thread


def _load() -> None:
    engine.start()
    engine.wait(LOADING)
    if not engine.ready():  # the pages say why
        return
    for lesson in pkgutil.walk_packages(lessons.__path__, f"{lessons.__name__}."):
        importlib.import_module(lesson.name)
    for name in AHEAD:
        module, _, function = name.partition(":")
        loaded = importlib.import_module(module)
        if function:
            getattr(loaded, function)()
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


@asynccontextmanager
async def lifespan(_app: object) -> AsyncIterator[None]:
    """What happens when the server starts, before anybody is served, and when it ends."""
    send_at_once()
    allow_many_files()
    ask_nobody_outside()
    load_ahead()
    try:
        yield
    finally:
        await asyncio.to_thread(runs.close)
