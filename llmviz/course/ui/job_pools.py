"""The processes that do long work for the pages: the same pools for all sessions of the server."""

from __future__ import annotations

import os
from functools import cache

from llmviz.background import Job, JobPool


@cache
def training_jobs() -> JobPool:
    """Trains word vectors: one thread of arithmetic each, so that a seed gives one result."""
    return JobPool(limit=max(1, (os.cpu_count() or 2) // 2), threads=1)


@cache
def map_jobs() -> JobPool:
    """Draws maps, one at a time: what one session asked for, the others find done.

    One thread: t-SNE's threads wait for one another by spinning, and beside other work two of
    them take four times as long as one.
    """
    return JobPool(limit=1, threads=1)


@cache
def import_jobs() -> JobPool:
    """Looks at published models and imports them, two at a time: one may wait for the network."""
    return JobPool(limit=2, threads=1)


@cache
def prepare_umap() -> tuple[Job, Job]:
    """Have UMAP loaded where maps are drawn, and compiled by a process beside it; asked for once.

    Another map that is wanted meanwhile waits for the loading alone, which is what takes long in
    drawing any map for the first time.
    """
    beside = JobPool(limit=1, threads=1, idle=1.0)
    compiling = beside.start("llmviz.similarity.compiled:compiled")
    return map_jobs().start("llmviz.similarity.compiled:loaded"), compiling
