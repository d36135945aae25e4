"""README's command for a class lets the class in, asks nobody outside, and sends at once."""

from __future__ import annotations

import os
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

from benchmarks.classroom import class_command
from benchmarks.startup import free_port, wait_until_up
from benchmarks.visitor import Visitor
from tests.awaiting import awaited

ROOT = Path(__file__).parents[1]

# Read by the server's Python before anything else: writes down with whom it talks, and what it does
# that everybody waits for.
RECORDER = """
import gc, os, socket, sys
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

_known = set()
def _did(what):
    if what not in _known:
        _known.add(what)
        with open(os.environ["LLMVIZ_TEST_DEEDS"], "a") as file:
            file.write(what + "\\n")
_send = socket.socket.send
def send(self, *given):
    if self.family in (socket.AF_INET, socket.AF_INET6):
        at_once = self.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
        how = "at once" if at_once else "late"
        _did(f"sends {how} to {self.getpeername()[1]}")
        # None until a session lets files be watched.
        modules = sys.modules.get("streamlit.watcher.local_sources_watcher")
        if hasattr(modules, "PathWatcher"):
            _did(f"watches modules: {modules.PathWatcher is not None}")
    return _send(self, *given)
_count = gc.get_freeze_count
def get_freeze_count():
    _did("counts frozen objects")
    return _count()
socket.socket.send, gc.get_freeze_count = send, get_freeze_count
"""
OWN = ("127.0.0.1", "0.0.0.0", "::", "::1", "localhost", "your-host", socket.gethostname())


@dataclass
class Class:
    """A server as README starts it for a class."""

    port: int
    notes: Path
    deeds: Path
    output: Path

    def outside(self) -> list[str]:
        """Return whom the server asked or looked up that is not this machine."""
        noted = self.notes.read_text("utf-8").splitlines() if self.notes.exists() else []
        return [line for line in noted if not any(f"'{name}'" in line for name in OWN)]


@pytest.fixture(scope="module")
def served(tmp_path_factory) -> Iterator[Class]:
    folder = tmp_path_factory.mktemp("class")
    (folder / "sitecustomize.py").write_text(RECORDER, encoding="utf-8")
    notes, deeds, output = folder / "notes", folder / "deeds", folder / "output"
    own = {"PYTHONPATH": folder, "LLMVIZ_TEST_NOTES": notes, "LLMVIZ_TEST_DEEDS": deeds}
    port = free_port()
    with output.open("w", encoding="utf-8") as file:
        server = subprocess.Popen(
            class_command(port),
            cwd=ROOT,
            env={**os.environ, **{name: str(path) for name, path in own.items()}},
            stdout=file,
            stderr=subprocess.STDOUT,
        )
        try:
            wait_until_up(f"http://127.0.0.1:{port}")
            yield Class(port, notes, deeds, output)
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


def test_nobody_outside_is_asked(served):
    awaited(opened(served.port, "localhost"))
    assert "localhost" in served.notes.read_text("utf-8")  # the recorder is at work
    assert served.outside() == []


def test_a_page_of_another_origin_is_refused_and_nobody_asked(served):
    with pytest.raises(InvalidStatus):
        awaited(opened(served.port, "localhost", origin="http://elsewhere.example"))
    assert served.outside() == []


def test_it_sends_at_once_watches_no_files_and_counts_no_frozen_objects(served):
    with socket.create_connection(("127.0.0.1", served.port)) as own:
        own.sendall(b"GET /_stcore/health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert b"200 OK" in own.recv(4096)
        port = own.getsockname()[1]
    awaited(opened(served.port, "localhost"))
    deeds = served.deeds.read_text("utf-8").splitlines()
    assert [deed for deed in deeds if deed.endswith(f" to {port}")] == [f"sends at once to {port}"]
    others = [deed for deed in deeds if not deed.startswith("sends ")]
    assert others == ["watches modules: False"]


def test_it_says_where_it_is(served):
    assert f"http://localhost:{served.port}" in served.output.read_text("utf-8")


def test_it_serves_its_own_page(served):
    with urllib.request.urlopen(f"http://127.0.0.1:{served.port}/") as page:
        assert page.status == 200


ONE_TERM = "find=softmax"  # of all pages the one that is drawn soonest


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no limit of open files")
def test_a_hundred_visits_need_no_more_than_256_open_files():
    port = free_port()
    limited = ["sh", "-c", 'ulimit -n 256 && exec "$@"', "sh", *class_command(port)]
    server = subprocess.Popen(
        limited, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )

    async def visit(times: int) -> None:
        for _ in range(times):
            async with Visitor(f"127.0.0.1:{port}") as visitor:
                assert (await visitor.open("glossary", ONE_TERM)).exceptions == []

    async def open_at_once(number: int) -> int:
        async with AsyncExitStack() as stack:
            for _ in range(number):
                visitor = await stack.enter_async_context(Visitor(f"127.0.0.1:{port}"))
                await visitor.open("glossary", ONE_TERM)
            return psutil.Process(server.pid).num_fds()

    try:
        wait_until_up(f"http://127.0.0.1:{port}")
        awaited(visit(100))
        assert psutil.Process(server.pid).num_fds() < 150
        assert awaited(open_at_once(30)) < 256
    finally:
        server.terminate()
        server.wait(timeout=60)
