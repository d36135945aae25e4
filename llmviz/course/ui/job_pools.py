"""The processes that do long work for the pages: the same pools for all sessions of the server."""

from __future__ import annotations

import os
from functools import cache

from llmviz.course import streamlit_parts
from llmviz.course.ui import origin
from llmviz.processes.background import Job, JobPool
from llmviz.processes.watchers import Owner, Visitors


class Sessions(Visitors):
    """The open windows of the app: each is a visit."""

    def here(self) -> str:
        """Return the session whose script is running; "" outside one."""
        return streamlit_parts.session() or ""

    def is_open(self, visitor: str) -> bool:
        """Return whether a session has its window open."""
        return streamlit_parts.is_open(visitor) is not False

    def owner(self, visitor: str) -> Owner:
        """Return whose session it is: its browser's, if that is known, else its own."""
        where = origin.of_session(visitor)
        return Owner(where.browser or visitor, where.address, where.own)


SESSIONS = Sessions()


@cache
def training_jobs() -> JobPool:
    """Trains word vectors: one thread of arithmetic each, so that a seed gives one result."""
    return JobPool(limit=max(1, (os.cpu_count() or 2) // 2), threads=1, visitors=SESSIONS)


@cache
def map_jobs() -> JobPool:
    """Draws maps, one at a time: what one session asked for, the others find done.

    One thread: t-SNE's threads wait for one another by spinning, and beside other work two of
    them take four times as long as one.
    """
    return JobPool(limit=1, threads=1, visitors=SESSIONS)


@cache
def import_jobs() -> JobPool:
    """Looks at published models and imports them, two at a time: one may wait for the network."""
    return JobPool(limit=2, threads=1, visitors=SESSIONS)


@cache
def prepare_umap() -> tuple[Job, Job]:
    """Have UMAP loaded where maps are drawn, and compiled by a process beside it; asked for once.

    Another map that is wanted meanwhile waits for the loading alone, which is what takes long in
    drawing any map for the first time.
    """
    beside = JobPool(limit=1, threads=1, idle=1.0)
    compiling = beside.start("llmviz.similarity.compiled:compiled")
    return map_jobs().start_for_all("llmviz.similarity.compiled:loaded"), compiling
