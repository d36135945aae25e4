"""After many visits, and after every chapter of every lesson was opened by the tests before."""

from __future__ import annotations

import sys
from contextlib import AsyncExitStack

import psutil
import pytest

from benchmarks.visitor import Visitor
from tests.awaiting import awaited
from tests.classroom.conftest import MOST_FILES, opened

ONE_TERM = "find=softmax"  # of all pages the one that is drawn soonest


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no limit of open files")
def test_a_hundred_visits_need_no_more_than_256_open_files(served):
    async def visit(times: int) -> None:
        for _ in range(times):
            async with Visitor(served.host) as visitor:
                assert (await visitor.open("glossary", ONE_TERM)).exceptions == []

    async def open_at_once(number: int) -> int:
        async with AsyncExitStack() as stack:
            for _ in range(number):
                visitor = await stack.enter_async_context(Visitor(served.host))
                await visitor.open("glossary", ONE_TERM)
            return served.process.num_fds()

    if hasattr(psutil, "RLIMIT_NOFILE"):  # this system tells the limit of another process
        assert served.process.rlimit(psutil.RLIMIT_NOFILE) == (MOST_FILES, MOST_FILES)
    awaited(visit(100))
    assert served.process.num_fds() < 150
    assert awaited(open_at_once(30)) < MOST_FILES


def test_nobody_outside_is_asked(served):
    awaited(opened(served.port, "localhost"))
    assert "localhost" in served.notes.read_text("utf-8")  # the recorder is at work
    assert served.outside() == []
