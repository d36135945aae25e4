"""What many visitors leave in the server's memory: sessions open and close over all chapters.

    python -m benchmarks.sessions [--sessions 500] [--group 25] [--full]

The app is started by README's own command for a class. Each session opens a chapter by a link with
a text of its own, in every field for one, moves a control or chooses another chapter, and leaves.
A group of them is open at once. The goal: flat, once what is kept for all has been filled. What is
kept has its own budget (`LLMVIZ_KEPT_MB`), which --kept sets. --full: every text is as long as its
field reads. The server is given time to end what was left between two groups.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import statistics
from contextlib import AsyncExitStack

import psutil

from benchmarks.classroom import CHAPTERS, STRIDE, Learner, app, megabytes, rest, sentence
from benchmarks.limits import NAME, packed
from benchmarks.visitor import Visitor, query
from llmviz.course.lessons import LESSONS
from llmviz.course.ui.contents import controls_of

STEP = 50  # sessions between two lines
# Every chapter, and the pages that have none.
PLACES = [(page, part) for page, part, _ in CHAPTERS] + [("", ""), ("glossary", "")]


def link_of(page: str, part: str, chance: random.Random, full: bool) -> str:
    """A link to a chapter with a text of its own in each of its fields."""
    (lesson,) = (one for one in LESSONS if one.key == (page or "home"))
    values = {"part": part} if part else {}
    for control in controls_of(lesson, part):
        if control.most and control.most > NAME:
            text = " ".join(sentence(chance) for _ in range(control.most // 40 if full else 1))
            values[control.key] = packed(text[: control.most]) if full else text
    return query(**values)


async def session(host: str, number: int, full: bool, troubles: list[str]) -> Visitor:
    """Open a chapter by a link, change something there, and stay."""
    chance = random.Random(number)
    page, part = PLACES[number * STRIDE % len(PLACES)]
    visitor = Visitor(host)
    await visitor.__aenter__()
    learner = Learner(visitor, chance)
    exchanges = [await visitor.open(page, link_of(page, part, chance, full))]
    for kind in ("control", "chapter"):
        exchanges.append((await learner.change(kind))[1])
    troubles += [f"{page} {part}: {text}" for one in exchanges for text in one.exceptions]
    return visitor


async def group(host: str, numbers: range, full: bool, troubles: list[str]) -> None:
    """Several sessions that are open at once, then none of them."""
    async with AsyncExitStack() as stack:
        for number in numbers:
            visitor = await session(host, number, full, troubles)
            stack.push_async_exit(visitor)


def slope(counts: list[int], values: list[float]) -> float:
    """Megabytes for each session more: a straight line through the later half of the figures."""
    half = len(counts) // 2
    return statistics.linear_regression(counts[half:], values[half:]).slope


def measure(given: argparse.Namespace) -> None:
    """Open and close the sessions, and print what the server holds meanwhile."""
    if given.kept:
        os.environ["LLMVIZ_KEPT_MB"] = str(given.kept)
    troubles: list[str] = []
    with app() as (host, server):
        counts, held = [0], [megabytes(server)]
        print(f"{'sessions':>8} {'MB':>7} {'files':>6} {'threads':>8}")
        print(line(0, server), flush=True)
        for begun in range(0, given.sessions, given.group):
            numbers = range(begun, min(begun + given.group, given.sessions))
            asyncio.run(group(host, numbers, given.full, troubles))
            if numbers.stop % STEP < given.group:
                rest(server)
                counts.append(numbers.stop)
                held.append(megabytes(server))
                print(line(numbers.stop, server), flush=True)
    if len(counts) > 3:
        print(f"the later half: {1e3 * slope(counts, held):+.0f} kB with each session")
    print(f"exceptions: {len(troubles)} {troubles[:3] or ''}")


def line(sessions: int, server: psutil.Process) -> str:
    """One line of the table."""
    files = server.num_fds() if hasattr(server, "num_fds") else 0
    return f"{sessions:8} {megabytes(server):7.0f} {files:6} {server.num_threads():8}"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sessions", type=int, default=500)
    parser.add_argument("--group", type=int, default=25, help="open at once")
    parser.add_argument("--kept", type=int, default=0, help="LLMVIZ_KEPT_MB of the server")
    parser.add_argument("--full", action="store_true", help="texts as long as fields read")
    measure(parser.parse_args())


if __name__ == "__main__":
    main()
