"""README's command for a class lets the class in, asks nobody outside, and sends nothing twice.

One server for all tests here: to start it and to load all lessons takes ten seconds. It has every
chapter of every lesson opened, and no more open files than some systems allow at first.
"""

from __future__ import annotations

import asyncio
import os
import random
import re
import shlex
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest
from websockets.exceptions import InvalidStatus

from benchmarks.classroom import LESSONS, PARTS, Learner, class_command
from benchmarks.startup import free_port, wait_until_up
from benchmarks.visitor import Exchange, Visitor
from tests.awaiting import awaited

ROOT = Path(__file__).parents[1]
MOST_FILES = 256  # that some systems let a process open, if it asks for no more
LIMITED = ["sh", "-c", f'ulimit -n {MOST_FILES} && exec "$@"', "sh"]

# Read by the server's Python before anything else: writes down with whom it talks.
RECORDER = """
import os, socket
_connect, _look_up = socket.socket.connect, socket.getaddrinfo
def _note(address):
    with open(os.environ["LLMVIZ_TEST_NOTES"], "a") as file:
        file.write(f"{address!r}\\n")
def connect(self, address):
    _note(address)
    return _connect(self, address)
def getaddrinfo(host, *more, **others):
    _note((host,))
    return _look_up(host, *more, **others)
socket.socket.connect, socket.getaddrinfo = connect, getaddrinfo
_note(("localhost",))  # it is at work
"""
OWN = ("127.0.0.1", "0.0.0.0", "::", "::1", "localhost", "your-host", socket.gethostname())


@dataclass
class Class:
    """A server as README starts it for a class."""

    port: int
    process: psutil.Process
    notes: Path
    output: Path

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.port}"

    def outside(self) -> list[str]:
        """Return whom the server asked or looked up that is not this machine."""
        noted = self.notes.read_text("utf-8").splitlines() if self.notes.exists() else []
        return [line for line in noted if not any(f"'{name}'" in line for name in OWN)]


@pytest.fixture(scope="module")
def served(tmp_path_factory) -> Iterator[Class]:
    folder = tmp_path_factory.mktemp("class")
    (folder / "sitecustomize.py").write_text(RECORDER, encoding="utf-8")
    notes, output = folder / "notes", folder / "output"
    port = free_port()
    with output.open("w", encoding="utf-8") as file:
        server = subprocess.Popen(
            [*([] if sys.platform == "win32" else LIMITED), *class_command(port)],
            cwd=ROOT,
            env={
                **os.environ,
                "PYTHONPATH": str(folder),
                "LLMVIZ_TEST_NOTES": str(notes),
                "LLMVIZ_RUNS": str(folder / "runs"),
            },
            stdout=file,
            stderr=subprocess.STDOUT,
        )
        try:
            wait_until_up(f"http://127.0.0.1:{port}")
            yield Class(port, psutil.Process(server.pid), notes, output)
        finally:
            server.terminate()
            try:
                server.wait(timeout=60)
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait()


async def opened(port: int, host: str, **more: str) -> list[str]:
    """Open the glossary under a name of this machine; return the page's elements."""
    async with Visitor(f"{host}:{port}", at=("127.0.0.1", port), **more) as visitor:
        exchange = await visitor.open("glossary")
        assert exchange.exceptions == []
        return [one.WhichOneof("type") for one in visitor.elements("heading", "html")]


def test_the_command_is_readmes():
    readme = (ROOT / "README.md").read_text("utf-8").replace("\\\n", " ")
    (line,) = re.findall(r"^\.venv/bin/(streamlit run .*--server\.address.*)$", readme, re.M)
    assert class_command(9)[2:] == [*shlex.split(line), "--server.port", "9"]
    assert class_command(9)[:2] == [sys.executable, "-m"]


@pytest.mark.parametrize("host", ["your-host", "localhost", "127.0.0.1"])
def test_a_class_gets_in(served, host):
    assert "heading" in awaited(opened(served.port, host))


def test_other_names_are_refused(served):
    with pytest.raises(InvalidStatus):
        awaited(opened(served.port, "elsewhere.example"))


def test_a_page_of_another_origin_is_refused_and_nobody_asked(served):
    with pytest.raises(InvalidStatus):
        awaited(opened(served.port, "localhost", origin="http://elsewhere.example"))
    assert served.outside() == []


def test_it_says_where_it_is(served):
    assert f"http://localhost:{served.port}" in served.output.read_text("utf-8")


def test_it_serves_its_own_page(served):
    with urllib.request.urlopen(f"http://127.0.0.1:{served.port}/") as page:
        assert page.status == 200


# ---- what is sent again

BYTES = 50_000  # of a rerun with nothing changed: what a browser has is not sent again
ELEMENTS = 60
FURNITURE = 4  # elements around a page: the sidebar's text, the styles, and what Streamlit adds
GROWING = 8  # reruns after which nothing grows any more


async def ready(visitor: Visitor) -> None:
    """Let the page run as it does by itself until its models are loaded."""
    for _ in range(120):
        if not visitor.polls or visitor.elements("button_group", "text_area"):
            return
        await asyncio.sleep(0.5)
        await visitor.poll(next(iter(visitor.polls)))


async def again(host: str, lesson: str) -> dict[str, Exchange]:
    """Open every chapter of a lesson and run it twice more; return the last run of each."""
    found = {}
    async with Visitor(host) as visitor:
        learner = Learner(visitor, random.Random(0))
        await visitor.open(lesson)
        await ready(visitor)
        listed = learner.chapters()
        for title in listed[1] if listed else [""]:
            if title:
                await learner.chapter(title)
            await visitor.reload()
            for _ in range(GROWING):  # texts that grow a piece at a time are not done at once
                found[title] = await visitor.reload()
                if found[title].received < BYTES:
                    break
            assert not found[title].exceptions, (title, found[title].exceptions)
    return found


@pytest.mark.parametrize("lesson", LESSONS)
def test_a_chapter_in_which_nothing_changed_sends_little(served, lesson):
    for title, exchange in awaited(again(served.host, lesson)).items():
        assert exchange.received < BYTES, title
        assert exchange.elements <= ELEMENTS, title


def test_little_stands_around_a_page(served):
    async def around() -> list[str]:
        async with Visitor(served.host) as visitor:
            await visitor.open("glossary")
            return [
                str(one.element.WhichOneof("type"))
                for path, one in visitor.standing.items()
                if path[0] != 0 and one.element is not None  # 0 is the page's own part
            ]

    assert len(awaited(around())) <= FURNITURE


def test_the_list_of_chapters_is_found():
    source = (ROOT / "llmviz" / "ui" / "lesson.py").read_text("utf-8")
    assert f'"{PARTS}"' in source


# ---- when all has been opened

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
