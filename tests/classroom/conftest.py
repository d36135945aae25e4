"""One server for all tests here: README's command for a class, with the most open files that some
systems allow at first. To start it and to load all lessons takes ten seconds."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

from benchmarks.classroom import class_command
from benchmarks.startup import free_port, wait_until_up
from benchmarks.visitor import Visitor

ROOT = Path(__file__).parents[2]
MOST_FILES = 256  # that some systems let a process open, if it asks for no more
LIMITED = ["sh", "-c", f'ulimit -n {MOST_FILES} && exec "$@"', "sh"]

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
    process: psutil.Process
    notes: Path
    deeds: Path
    output: Path

    @property
    def host(self) -> str:
        """Its address with the port."""
        return f"127.0.0.1:{self.port}"

    def outside(self) -> list[str]:
        """Return whom the server asked or looked up that is not this machine."""
        noted = self.notes.read_text("utf-8").splitlines() if self.notes.exists() else []
        return [line for line in noted if not any(f"'{name}'" in line for name in OWN)]


@pytest.fixture(scope="session")
def served(tmp_path_factory) -> Iterator[Class]:
    """The server."""
    folder = tmp_path_factory.mktemp("class")
    (folder / "sitecustomize.py").write_text(RECORDER, encoding="utf-8")
    notes, deeds, output = folder / "notes", folder / "deeds", folder / "output"
    own = {"PYTHONPATH": folder, "LLMVIZ_TEST_NOTES": notes, "LLMVIZ_TEST_DEEDS": deeds}
    own["LLMVIZ_RUNS"] = folder / "runs"
    port = free_port()
    with output.open("w", encoding="utf-8") as file:
        server = subprocess.Popen(
            [*([] if sys.platform == "win32" else LIMITED), *class_command(port)],
            cwd=ROOT,
            env={**os.environ, **{name: str(path) for name, path in own.items()}},
            stdout=file,
            stderr=subprocess.STDOUT,
        )
        try:
            wait_until_up(f"http://127.0.0.1:{port}")
            yield Class(port, psutil.Process(server.pid), notes, deeds, output)
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
