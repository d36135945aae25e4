"""A class that follows its presenter: what waiting for a step costs the server, and a step.

    python -m benchmarks.follow [--visitors 60] [--steps 12] [--processes 1] [--nginx]

A presenter opens a class, the followers join it by its link. They ask every 0.3 seconds for the
version of the presenter's place, as their browsers do, and run their page again when it has
changed. Seconds of a step are those from the presenter's press until a follower's page stands.
Goal: 1 s for 95 % of them; a question below 1 ms of the server's processor time.

--nginx: two processes behind nginx, as in deploy/, each browser with a cookie of its own.

readers    so many visitors who have a page open and do nothing
followers  the same, but as followers of a class in which nothing happens
pointing   the presenter's pointer moves to another place every 0.35 seconds, and is lit for them
steps      the presenter takes a step every three seconds, to another page or another chapter
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import secrets
import time
from contextlib import AsyncExitStack, ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import psutil

from benchmarks.behind_nginx import PREFIX, behind_nginx
from benchmarks.classroom import apps, beside, cpu_seconds, rest, share, warmed
from benchmarks.visitor import Visitor, query
from llmviz.course.components._shared.transport import unpack
from llmviz.course.ui.classroom import words

PAUSE = 0.3  # seconds between two questions, as in components/class_watch/view.js
POINTS = 0.35  # seconds between two places that are pointed at, as in components/projector/view.js
WATCH, SECRET = "llmviz_class_watch", "llmviz_browser_secret"
PLACES = ("glossary", "tokenization", "embeddings", "attention", "sampling", "history")
Figures = list[tuple[str, float, int]]  # what was done, seconds of it, questions meanwhile


def sent(visitor: Visitor, component: str) -> dict[str, Any]:
    """What the one component of a name on a page was sent."""
    parts = [one.bidi_component for one in visitor.elements("bidi_component")]
    (part,) = (one for one in parts if one.component_name == component)
    return unpack(part.bytes)


def watched(visitor: Visitor) -> tuple[str, int]:
    """What a follower's browser asks for, and the version that its page shows."""
    payload = sent(visitor, WATCH)
    return payload["address"], payload["version"]


def request(method: str, visitor: Visitor, address: str, cookie: str = "") -> str:
    """The head of what a browser asks for below the app's path, with its cookies."""
    path = f"/{visitor.path}" if visitor.path else ""
    cookies = "; ".join(filter(None, (visitor.headers.get("Cookie"), cookie)))
    head = f"{method} {path}{address} HTTP/1.1\r\nHost: {visitor.host}\r\n"
    return head + (f"Cookie: {cookies}\r\n" if cookies else "") + "\r\n" * (method == "GET")


class Follower:
    """A follower's window, which asks over a connection of its own."""

    def __init__(self, visitor: Visitor) -> None:
        self.visitor, self.host = visitor, visitor.host
        self.asked = 0
        self.stood: list[float] = []  # when the page of each step stood
        self.lit: dict[float, float] = {}  # by when a place was pointed at: when it was lit here

    async def follow(self) -> None:
        """Ask, and run the page again when the class has gone on, until cancelled."""
        name, port = self.host.split(":")
        reader, writer = await asyncio.open_connection(name, int(port))
        try:
            while True:
                await asyncio.sleep(PAUSE)
                address, shown = watched(self.visitor)
                writer.write(request("GET", self.visitor, address).encode())
                head = await reader.readuntil(b"\r\n\r\n")
                (size,) = re.findall(rb"content-length: (\d+)", head.lower())
                version, _, lit = (await reader.readexactly(int(size))).decode().partition("\n")
                self.asked += 1
                if lit:
                    self.lit.setdefault(json.loads(lit)["at"], time.perf_counter())
                if int(version) != shown:
                    exchange = await self.visitor.reload()
                    assert not exchange.exceptions, exchange.exceptions
                    self.stood.append(time.perf_counter())
        finally:
            writer.close()


class Pointer:
    """A presenter's pointer, over a connection of its own."""

    def __init__(self, visitor: Visitor, address: str) -> None:
        self.visitor, self.address = visitor, address
        secret = sent(visitor, SECRET)
        self.cookie = f"{secret['name']}={secret['secret']}"
        self.refused = 0

    async def point(self) -> None:
        """Point at another place again and again, until cancelled."""
        name, port = self.visitor.host.split(":")
        reader, writer = await asyncio.open_connection(name, int(port))
        try:
            while True:
                place = {"in": "section.stMain", "text": "Step by step", "at": time.perf_counter()}
                body = json.dumps(place).encode()
                head = request("POST", self.visitor, self.address, self.cookie)
                head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
                writer.write(head.encode() + body)
                answer = await reader.readuntil(b"\r\n\r\n")
                self.refused += b" 204 " not in answer.splitlines()[0]
                await asyncio.sleep(POINTS)
        finally:
            writer.close()


async def press(visitor: Visitor, label: str) -> None:
    """Press a button."""
    (button,) = (one for one in visitor.elements("button") if one.button.label == label)
    await visitor.set(button, trigger_value=True)


async def drive(
    hosts: list[str], path: str, pids: list[int], visitors: int, steps: int, idle: float
) -> Figures:
    """All that is measured: processor time by what was done, then the seconds of each step.

    path: below which the app lies behind nginx; empty without it.
    """
    servers = [psutil.Process(pid) for pid in pids]
    figures: Figures = []
    async with AsyncExitStack() as stack:

        def browser(number: int) -> Visitor:
            cookie = {"Cookie": f"llmviz_visitor={secrets.token_hex(16)}"} if path else {}
            return Visitor(hosts[number % len(hosts)], path, headers=cookie)

        ann = await stack.enter_async_context(browser(0))
        await ann.open("tokenization")
        followers = []
        for i in range(visitors):
            one = await stack.enter_async_context(browser(i))
            await one.open("tokenization")
            followers.append(Follower(one))

        async def cost(name: str, seconds: float) -> None:
            asked = sum(one.asked for one in followers)
            begun = sum(map(cpu_seconds, servers))
            await asyncio.sleep(seconds)
            spent = sum(map(cpu_seconds, servers)) - begun
            figures.append((name, spent, sum(one.asked for one in followers) - asked))

        await cost("readers", idle)
        await press(ann, words.open_box)
        await press(ann, words.open)
        (code,) = (one.metric.body for one in ann.elements("metric"))
        for one in followers:
            await one.visitor.open("tokenization", query(**{"class": code}))
        tasks = [asyncio.create_task(one.follow()) for one in followers]
        await asyncio.sleep(2)
        await cost("followers", idle)
        pointer = Pointer(ann, watched(followers[0].visitor)[0])
        pointing = asyncio.create_task(pointer.point())
        await cost("pointing", idle)
        pointing.cancel()
        seen = (seconds - begun for one in followers for begun, seconds in one.lit.items())
        figures += [("lit", seconds, 0) for seconds in seen]
        figures += [("a place was refused", 0, 0)] * pointer.refused
        for step in range(steps):
            for one in followers:
                one.stood.clear()
            begun = time.perf_counter()
            before = sum(map(cpu_seconds, servers))
            await ann.go_to(PLACES[step % len(PLACES)])
            while not all(one.stood for one in followers) and time.perf_counter() - begun < 30:
                await asyncio.sleep(0.05)
            spent = sum(map(cpu_seconds, servers)) - before
            figures += [("step", one.stood[0] - begun, 0) for one in followers if one.stood]
            figures.append(("step's processor time", spent, len(followers)))
            figures += [("missed", 0, 0) for one in followers if not one.stood]
            await asyncio.sleep(max(0.0, 3 - (time.perf_counter() - begun)))
        for task in tasks:
            task.cancel()
        ended = await asyncio.gather(*tasks, return_exceptions=True)
        figures += [
            (repr(one), 0, 0) for one in ended if not isinstance(one, asyncio.CancelledError)
        ]
        await press(ann, words.end)
        await press(ann, words.end_now)
    return figures


def main(arguments: list[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--visitors", type=int, default=60)
    parser.add_argument("--steps", type=int, default=12)
    parser.add_argument("--idle", type=float, default=10.0, help="seconds in which nothing happens")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--nginx", action="store_true", help="two processes behind nginx")
    given = parser.parse_args(arguments)
    more = (given.visitors, given.steps, given.idle)
    with ExitStack() as stack:
        if given.nginx:
            folder = Path(stack.enter_context(TemporaryDirectory(ignore_cleanup_errors=True)))
            running = stack.enter_context(behind_nginx(folder))
            servers = [psutil.Process(one.pid) for one in running.processes]
            for port, server in zip(running.ports, servers, strict=False):
                asyncio.run(warmed(f"127.0.0.1:{port}", PREFIX))
                rest(server)
            hosts, path = [running.host], PREFIX
        else:
            hosts, servers = stack.enter_context(apps(given.processes))
            path = ""
        figures, own = beside(drive, hosts, path, [one.pid for one in servers], *more)
    where = "two servers behind nginx" if given.nginx else f"{len(hosts)} servers"
    print(f"{given.visitors} followers at {where}")
    for name, spent, asked in figures:
        if name in ("readers", "followers", "pointing"):
            each = f", {1e3 * spent / asked:.2f} ms a question" if asked else ""
            print(f"{name}: {100 * spent / given.idle:.1f} % of a core{each}")
    taken = [seconds for name, seconds, _ in figures if name == "step"]
    spent = [seconds for name, seconds, _ in figures if name == "step's processor time"]
    print(
        f"a step: p50 {share(taken, 0.5):.2f} s, p95 {share(taken, 0.95):.2f}, "
        f"last {max(taken, default=0):.2f} (goal for p95: 1); processor time of a step "
        f"{share(spent, 0.5):.2f} s, {1e3 * share(spent, 0.5) / given.visitors:.0f} ms a follower"
    )
    lit = [seconds for name, seconds, _ in figures if name == "lit"]
    print(f"a place is lit after: p50 {share(lit, 0.5):.2f} s, p95 {share(lit, 0.95):.2f}")
    known = {"readers", "followers", "pointing", "lit", "step", "step's processor time"}
    wrong = [name for name, _, _ in figures if name not in known]
    print(f"errors: {len(wrong)} {sorted(set(wrong))[:3] or ''}; driver: {own:.1f} s")


if __name__ == "__main__":
    main()
