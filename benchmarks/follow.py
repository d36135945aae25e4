"""A class that follows its presenter: what waiting for a step costs the server, and a step.

    python -m benchmarks.follow [--visitors 60] [--steps 12] [--processes 1]

A presenter opens a class, the followers join it by its link. They ask every 0.7 seconds for the
version of the presenter's place, as their browsers do, and run their page again when it has
changed. Seconds of a step are those from the presenter's press until a follower's page stands.
Goal: 1 s for 95 % of them; a question below 1 ms of the server's processor time.

readers    so many visitors who have a page open and do nothing
followers  the same, but as followers of a class in which nothing happens
steps      the presenter takes a step every three seconds, to another page or another chapter
"""

from __future__ import annotations

import argparse
import asyncio
import re
import time
from contextlib import AsyncExitStack

import psutil

from benchmarks.classroom import apps, beside, cpu_seconds, share
from benchmarks.visitor import Visitor, query
from llmviz.components._shared.transport import unpack
from llmviz.ui.classroom import words

PAUSE = 0.7  # seconds between two questions, as in components/class_watch/view.js
WATCH = "llmviz_class_watch"
PLACES = ("glossary", "tokenization", "embeddings", "attention", "sampling", "history")
Figures = list[tuple[str, float, int]]  # what was done, seconds of it, questions meanwhile


def watched(visitor: Visitor) -> tuple[str, int]:
    """What a follower's browser asks for, and the version that its page shows."""
    parts = [one.bidi_component for one in visitor.elements("bidi_component")]
    (part,) = (one for one in parts if one.component_name == WATCH)
    payload = unpack(part.bytes)
    return payload["address"], payload["version"]


class Follower:
    """A follower's window, which asks over a connection of its own."""

    def __init__(self, visitor: Visitor, host: str) -> None:
        self.visitor, self.host = visitor, host
        self.asked = 0
        self.stood: list[float] = []  # when the page of each step stood

    async def follow(self) -> None:
        """Ask, and run the page again when the class has gone on, until cancelled."""
        name, port = self.host.split(":")
        reader, writer = await asyncio.open_connection(name, int(port))
        try:
            while True:
                await asyncio.sleep(PAUSE)
                address, shown = watched(self.visitor)
                writer.write(f"GET {address} HTTP/1.1\r\nHost: {self.host}\r\n\r\n".encode())
                head = await reader.readuntil(b"\r\n\r\n")
                (size,) = re.findall(rb"content-length: (\d+)", head.lower())
                version = int(await reader.readexactly(int(size)))
                self.asked += 1
                if version != shown:
                    exchange = await self.visitor.reload()
                    assert not exchange.exceptions, exchange.exceptions
                    self.stood.append(time.perf_counter())
        finally:
            writer.close()


async def press(visitor: Visitor, label: str) -> None:
    """Press a button."""
    (button,) = (one for one in visitor.elements("button") if one.button.label == label)
    await visitor.set(button, trigger_value=True)


async def drive(
    hosts: list[str], pids: list[int], visitors: int, steps: int, idle: float
) -> Figures:
    """All that is measured: processor time by what was done, then the seconds of each step."""
    servers = [psutil.Process(pid) for pid in pids]
    figures: Figures = []
    async with AsyncExitStack() as stack:
        ann = await stack.enter_async_context(Visitor(hosts[0]))
        await ann.open("tokenization")
        followers = []
        for i in range(visitors):
            host = hosts[i % len(hosts)]
            one = await stack.enter_async_context(Visitor(host))
            await one.open("tokenization")
            followers.append(Follower(one, host))

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
    return figures


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--visitors", type=int, default=60)
    parser.add_argument("--steps", type=int, default=12)
    parser.add_argument("--idle", type=float, default=10.0, help="seconds in which nothing happens")
    parser.add_argument("--processes", type=int, default=1)
    given = parser.parse_args()
    with apps(given.processes) as (hosts, servers):
        task = (drive, hosts, [one.pid for one in servers], given.visitors, given.steps, given.idle)
        figures, own = beside(*task)
    print(f"{given.visitors} followers at {len(hosts)} servers")
    for name, spent, asked in figures:
        if name in ("readers", "followers"):
            each = f", {1e3 * spent / asked:.2f} ms a question" if asked else ""
            print(f"{name}: {100 * spent / given.idle:.1f} % of a core{each}")
    taken = [seconds for name, seconds, _ in figures if name == "step"]
    spent = [seconds for name, seconds, _ in figures if name == "step's processor time"]
    print(
        f"a step: p50 {share(taken, 0.5):.2f} s, p95 {share(taken, 0.95):.2f}, "
        f"last {max(taken, default=0):.2f} (goal for p95: 1); processor time of a step "
        f"{share(spent, 0.5):.2f} s, {1e3 * share(spent, 0.5) / given.visitors:.0f} ms a follower"
    )
    known = {"readers", "followers", "step", "step's processor time"}
    wrong = [name for name, _, _ in figures if name not in known]
    print(f"errors: {len(wrong)} {sorted(set(wrong))[:3] or ''}; driver: {own:.1f} s")


if __name__ == "__main__":
    main()
