"""`app`: serve the lessons in the browser, by one process or by several behind one address.

Of several, each has its own visitors. A connection is accepted here. Its first bytes are looked at
and left where they are: a cookie in them says which process has the browser's sessions. Then the
connection is handed to that process, which talks to the browser itself: websockets, uploads and
network addresses are as they would be with one process.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import itertools
import os
import re
import secrets
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from typing import Any
from zlib import crc32

from llmviz.cli.options import whole
from llmviz.files.paths import APP
from llmviz.processes.child import python_module
from llmviz.processes.handed_sockets import COOKIE, NUMBER, SETTING, hand_over
from llmviz.runs.visitors import limit_from_environment

PATIENCE = 30.0  # seconds that a connection may say nothing
LONGEST = 2**16  # bytes of a request's head that are looked at
SOON = 10.0  # seconds after its start in which a process should not end
TRIES = 3  # times that it may do so before all end
RESTART = 1.0  # seconds between two tries to hand a connection to a process that has died
LEAVE = 15.0  # seconds that processes have for ending by themselves
LOOK = 0.05  # seconds between two looks at a head that is not whole
WAITING = 1024  # connections that may wait to be accepted
_COOKIE = re.compile(rb"^cookie:[^\r\n]*\b" + COOKIE.encode() + rb"=(\d+)", re.I | re.M)


def process_named(head: bytes, count: int) -> int | None:
    """Return which of `count` processes the head of a request names; None for none of them.

    >>> process_named(b"GET / HTTP/1.1\\r\\nCookie: a=b; llmviz_process=1\\r\\n\\r\\n", 2)
    1
    """
    found = _COOKIE.search(head.partition(b"\r\n\r\n")[0])
    number = int(found[1]) if found and len(found[1]) < 4 else count
    return number if number < count else None


class AppProcess:
    """One of the processes, which is started again when it dies."""

    def __init__(self, number: int, command: Sequence[str], environment: Mapping[str, str]) -> None:
        self.number, self._command, self._environment = number, command, environment
        self._process: asyncio.subprocess.Process | None = None
        self._pipe: socket.socket | None = None
        self.ready = asyncio.Event()  # it has served

    async def keep_running(self) -> int:
        """Start it again and again; return its exit code where that does not help."""
        soon = 0
        while True:
            begun = time.monotonic()
            code = await self._run()
            soon = soon + 1 if time.monotonic() - begun < SOON else 0
            if not self.ready.is_set() or soon == TRIES:
                return code or 1
            sys.stderr.write(f"process {self.number} has ended ({code}) and is started again\n")

    async def _run(self) -> int:
        """Run it once; return its exit code."""
        own, theirs = socket.socketpair()
        with own:
            own.setblocking(False)
            self._pipe = own
            with theirs:
                handed = {NUMBER: str(self.number), SETTING: str(theirs.fileno())}
                self._process = await asyncio.create_subprocess_exec(
                    *self._command,
                    env={**self._environment, **handed},
                    pass_fds=[theirs.fileno()],
                    stdout=asyncio.subprocess.DEVNULL,  # each would say where it is
                    start_new_session=True,  # Ctrl-C is for this process, which ends the others
                )
            if await asyncio.get_running_loop().sock_recv(own, 1):
                self.ready.set()
            return await self._process.wait()

    async def give(self, connection: socket.socket) -> None:
        """Hand a connection over; one that dies meanwhile is started again first."""
        for _ in range(TRIES):
            with contextlib.suppress(OSError):
                if self._pipe is not None:
                    hand_over(self._pipe, connection)
                    return
            await asyncio.sleep(RESTART)

    async def end(self) -> None:
        """Let it end by itself, or end it."""
        if self._process is None or self._process.returncode is not None:
            return
        self._process.terminate()
        try:
            await asyncio.wait_for(self._process.wait(), LEAVE)
        except TimeoutError:
            self._process.kill()


class Door:
    """Where visitors come in, and which process each goes to."""

    def __init__(self, listener: socket.socket, processes: Sequence[AppProcess]) -> None:
        self._listener, self._processes = listener, processes
        self._turns = itertools.cycle(processes)
        self._coming: set[asyncio.Task[None]] = set()

    async def keep_open(self) -> None:
        """Let everybody in who comes."""
        while True:
            connection, (address, *_) = await asyncio.get_running_loop().sock_accept(self._listener)
            task = asyncio.create_task(self._let_in(connection, address))
            self._coming.add(task)
            task.add_done_callback(self._coming.discard)

    async def _let_in(self, connection: socket.socket, address: str) -> None:
        with connection:
            try:
                head = await asyncio.wait_for(_first_bytes(connection), PATIENCE)
            except (TimeoutError, OSError):
                return
            if head:
                await self._process_for(head, address).give(connection)

    def _process_for(self, head: bytes, address: str) -> AppProcess:
        """The process of a browser, of an address where nothing can be read (TLS), or the next."""
        count = len(self._processes)
        number = process_named(head, count)
        if number is None and not head[:1].isalpha():
            number = crc32(address.encode()) % count
        return next(self._turns) if number is None else self._processes[number]


async def _first_bytes(connection: socket.socket) -> bytes:
    """Wait for the head of the first request, and leave it to be read; empty where none came."""
    loop = asyncio.get_running_loop()
    while True:
        arrived = asyncio.Event()
        loop.add_reader(connection, arrived.set)
        try:
            await arrived.wait()
        finally:
            loop.remove_reader(connection)
        head = connection.recv(LONGEST, socket.MSG_PEEK)
        if not head[:1].isalpha() or b"\r\n\r\n" in head or len(head) == LONGEST:
            return head
        await asyncio.sleep(LOOK)


async def _serve(listener: socket.socket, processes: Sequence[AppProcess], where: str) -> int:
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)

    async def say() -> None:
        for process in processes:
            await process.ready.wait()
        sys.stdout.write(f"{len(processes)} processes serve the lessons at {where}\n")
        sys.stdout.flush()

    running = [asyncio.create_task(process.keep_running()) for process in processes]
    beside = [asyncio.create_task(work) for work in (Door(listener, processes).keep_open(), say())]
    stopped = asyncio.create_task(stop.wait())
    await asyncio.wait([*running, stopped], return_when=asyncio.FIRST_COMPLETED)
    code = next((task.result() for task in running if task.done()), 0)
    for task in (*running, *beside, stopped):
        task.cancel()
    await asyncio.gather(*(process.end() for process in processes))
    return 0 if stop.is_set() else code


def serve(address: str, port: int, count: int, command: Sequence[str]) -> int:
    """Serve with `count` processes until a signal comes; return the exit code.

    command: what starts one. Raises OSError where nobody may listen there, ValueError on a system
    that cannot hand connections over.
    """
    if not hasattr(socket, "send_fds"):
        raise ValueError("several processes need a system that can hand connections over")
    environment = {
        "LLMVIZ_MAX_RUNS": str(max(1, limit_from_environment() // count)),
        "STREAMLIT_SERVER_COOKIE_SECRET": secrets.token_hex(),  # one for all
        **os.environ,
    }
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    both = family == socket.AF_INET6 and socket.has_dualstack_ipv6()
    with socket.create_server(
        (address, port), family=family, backlog=WAITING, dualstack_ipv6=both
    ) as listener:
        listener.setblocking(False)
        processes = [AppProcess(number, command, environment) for number in range(count)]
        host = f"[{address}]" if ":" in address else address
        return asyncio.run(_serve(listener, processes, f"http://{host}:{port}"))


MOST = 64  # processes


def add(commands: Any) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "app",
        help="serve the lessons in the browser",
        examples=(
            "app",
            "app --port 8600",
            "app --processes 2",
            "app --address 0.0.0.0 -- --server.headless true",
        ),
        description=(
            "Serve the lessons: this is `streamlit run` on this project's app.py. Runs are read "
            "from and written to runs/ in the current folder."
        ),
    )
    given = parser.add_argument
    given("--port", type=whole(1, 65535), default=8501, help="default 8501")
    given("--address", default="localhost", help="default localhost; 0.0.0.0 serves the network")
    given(
        "--processes",
        type=whole(1, MOST),
        default=1,
        help="behind this address, for more visitors than one core can serve; default 1",
    )
    given(
        "options",
        nargs="*",
        metavar="-- OPTION",
        help="any options of `streamlit run`, such as -- --server.headless false",
    )
    parser.set_defaults(run=run)


def command(given: argparse.Namespace) -> list[str]:
    """The command line of the server; what comes later there counts more."""
    place = ["--server.port", str(given.port), "--server.address", given.address]
    return [*python_module("llmviz.course.ui.serve_app"), str(APP), *place, *given.options]


def run(given: argparse.Namespace) -> int:
    """Become the server, so that a signal reaches it; on Windows wait for it to end."""
    if given.processes > 1:
        return serve(given.address, given.port, given.processes, command(given))
    if os.name != "nt":
        os.execv(sys.executable, command(given))
    return subprocess.call(command(given))
