"""`llmviz app --processes 2`: two processes behind one address, without a proxy."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from benchmarks.follow import watched
from benchmarks.startup import ROOT, free_port, wait_until_up
from benchmarks.visitor import query
from llmviz.cli import app
from llmviz.cli.app import process_named
from llmviz.course.ui.classroom import GONE, words
from llmviz.processes.handed_sockets import COOKIE, HandedSockets, hand_over
from tests.awaiting import awaited
from tests.browser.conftest import NOT_AHEAD
from tests.test_deploy import TEXT, Browser, led, pressed, shown, title

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not hasattr(socket, "send_fds"), reason="this system hands no connections over"
    ),
]


class Served:
    """The running command, and where it answers."""

    prefix = ""

    def __init__(self, folder: Path, processes: int) -> None:
        port = free_port()
        self.host, self.output = f"127.0.0.1:{port}", folder / "output"
        command = [sys.executable, "-m", "llmviz", "app", "--address", "127.0.0.1"]
        command += ["--port", str(port), "--processes", str(processes)]
        more = {"PYTHONPATH": f"{NOT_AHEAD}{os.pathsep}{ROOT}", "LLMVIZ_RUNS": str(folder)}
        with self.output.open("wb") as output:
            self.command = subprocess.Popen(
                command,
                env={**os.environ, **more},
                cwd=folder,
                stdout=output,
                stderr=output,
                start_new_session=True,  # a signal to its group is Ctrl-C in its terminal
            )
        wait_until_up(f"http://{self.host}")

    def processes(self) -> list[psutil.Process]:
        """The processes of the app."""
        return psutil.Process(self.command.pid).children()

    def browser_of(self, process: int) -> Browser:
        """A browser whose sessions live in this process."""
        for _ in range(3):
            browser = Browser(self)
            if browser.cookie(COOKIE) == str(process):
                return browser
        raise AssertionError("visitors do not go to the processes in turn")


@contextmanager
def serving(folder: Path, processes: int) -> Iterator[Served]:
    served = Served(folder, processes)
    try:
        yield served
    finally:
        served.command.terminate()
        served.command.wait(timeout=60)


@pytest.fixture(scope="module")
def served(tmp_path_factory) -> Iterator[Served]:
    with serving(tmp_path_factory.mktemp("processes"), 2) as running:
        yield running


@pytest.mark.parametrize(
    ("head", "process"),
    [
        (b"GET / HTTP/1.1\r\nHost: a\r\nCookie: a=b; llmviz_process=1\r\n\r\n", 1),
        (b"GET / HTTP/1.1\r\ncookie: llmviz_process=0; c=d\r\n\r\n", 0),
        (b"GET / HTTP/1.1\r\nCookie: llmviz_process=2\r\n\r\n", None),
        (b"GET / HTTP/1.1\r\nCookie: llmviz_process=" + b"1" * 5000 + b"\r\n\r\n", None),
        (b"GET / HTTP/1.1\r\nCookie: other_llmviz_process=1\r\n\r\n", None),
        (b"POST / HTTP/1.1\r\n\r\nCookie: llmviz_process=1\r\n\r\n", None),
        (b"GET /?Cookie:llmviz_process=1 HTTP/1.1\r\n\r\n", None),
        (b"\x16\x03\x01", None),
        (b"", None),
    ],
)
def test_a_cookie_names_the_process(head, process):
    assert process_named(head, 2) == process


def test_a_connection_is_served_by_who_it_is_handed_to():
    ours, theirs = socket.socketpair()
    with socket.create_server(("127.0.0.1", 0)) as door, ours:
        taken = HandedSockets(fileno=theirs.detach())
        taken.setblocking(False)
        with taken, socket.create_connection(door.getsockname()) as visitor:
            with pytest.raises(BlockingIOError):
                taken.accept()
            taken.listen(5)
            assert ours.recv(9)  # it says that it is ready
            visitor.sendall(b"hello")
            accepted, address = door.accept()
            with accepted:
                hand_over(ours, accepted)
            connection, where = taken.accept()
            with connection:
                assert (connection.recv(9), where) == (b"hello", address)
                assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_a_process_whose_command_has_gone_before_it_was_ready_ends_without_an_error(monkeypatch):
    told = []
    monkeypatch.setattr(
        "llmviz.processes.handed_sockets.os.kill", lambda pid, what: told.append((pid, what))
    )
    ours, theirs = socket.socketpair()
    ours.close()
    with HandedSockets(fileno=theirs.detach()) as taken:
        taken.listen(5)
        with pytest.raises(BlockingIOError):
            taken.accept()
    assert told == [(os.getpid(), signal.SIGTERM)]


def test_a_browser_stays_with_its_process_and_its_files_get_there(served):
    async def uploaded(browser: Browser) -> list[int]:
        async with browser.visitor() as visitor:
            await visitor.open("glossary")
            own = await asyncio.to_thread(browser.upload, visitor.session)
            (cookie,) = (known for known in browser.cookies if known.name == COOKIE)
            cookie.value = str(1 - int(cookie.value))
            return [own, await asyncio.to_thread(browser.upload, visitor.session)]

    # The other process knows nothing of the session.
    assert [awaited(uploaded(served.browser_of(n))) for n in (0, 1)] == [[204, 400]] * 2


def test_a_class_goes_across_processes(served):
    ann, bob = served.browser_of(0), served.browser_of(1)

    async def lesson() -> None:
        async with ann.visitor() as presenter, bob.visitor() as follower:
            await presenter.open("glossary")
            await pressed(presenter, words.open_box)
            await pressed(presenter, words.open)
            (code,) = led(presenter)
            await follower.open("tokenization", query(**{"class": code}))
            assert title(follower) == title(presenter) == "Glossary"
            watch, version = watched(follower)

            async def now() -> int:
                return int(await asyncio.to_thread(lambda: bob.ask(watch[1:]).read()))

            assert await now() == version
            await presenter.go_to("tokenization")
            assert await now() > version
            await follower.reload()
            assert title(follower) == title(presenter) != "Glossary"
            await pressed(presenter, words.end)
            await pressed(presenter, words.end_now)
            assert await now() == GONE

    awaited(lesson())


def test_a_process_that_dies_is_started_again(served):
    browser, before = served.browser_of(0), served.processes()
    (killed,) = (known for known in before if known.environ().get("LLMVIZ_PROCESS") == "0")
    killed.kill()
    killed.wait()
    assert awaited(shown(browser, "tokenization", query(text=TEXT)))[0] == TEXT
    assert len(served.processes()) == 2 and served.processes() != before
    assert "process 0 has ended (-9) and is started again" in served.output.read_text("utf-8")


@pytest.mark.parametrize("processes", [1, 2])
def test_ctrl_c_ends_all_without_an_error(tmp_path, processes):
    with serving(tmp_path, processes) as served:
        all_of_them = [served.command, *served.processes()]
        os.killpg(served.command.pid, signal.SIGINT)
        assert served.command.wait(timeout=60) == 0
        assert not any(psutil.pid_exists(known.pid) for known in all_of_them[1:])
    said = served.output.read_text("utf-8")
    assert "Aborted" not in said and "Traceback" not in said


def test_processes_end_with_the_command_that_started_them(tmp_path):
    with serving(tmp_path, 2) as served:
        processes = served.processes()
        served.command.kill()
        gone, alive = psutil.wait_procs(processes, timeout=60)
    assert len(gone) == 2 and not alive


def test_a_command_that_cannot_start_is_not_started_again():
    """In a process of its own: others beside this test wait for children, too."""
    served = "import sys\nfrom llmviz.cli import app\napp.RESTART = 0\n"
    served += f"failing = [{sys.executable!r}, '-c', 'import sys; sys.exit(5)']\n"
    served += f"sys.exit(app.serve('127.0.0.1', {free_port()}, 2, failing))"
    done = subprocess.run(
        [sys.executable, "-c", served], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 5 and "started again" not in done.stderr, done.stderr


def test_a_port_that_is_taken_is_refused():
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(OSError, match="in use"):
        app.serve(*taken.getsockname(), 2, ["never started"])
