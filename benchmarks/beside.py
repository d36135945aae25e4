"""What other visitors notice while a chapter works in the background.

    python -m benchmarks.beside [--rounds 4] [--changes 24] [--page attention] [--only WORD]
                                [--visitors 10]

The app is started by README's own command for a class. One visitor changes something in another
lesson, a new text and a control in turn, and waits for the page each time. In every round they do
so undisturbed, and then while a second visitor's run goes on and is watched: requests served
("Many requests"), a measured speed ("Guess and check"), a training over four processes ("Many
machines"), 80 updates of learning from rewards ("Reinforcement"). A run that has ended is followed
by another. Seconds are those of the wall, ratios are of all rounds together. Goal: 2 at most for
the median, and 1.3 beside rewards. Run nothing beside it.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import random
import time
from collections.abc import Callable, Iterator
from itertools import count, cycle, product
from typing import NamedTuple

import psutil

from benchmarks.classroom import Learner, app, cpu_seconds, sentence, share
from benchmarks.visitor import Visitor, query
from llmviz.course.lessons.reasoning.reinforce import BETAS
from llmviz.course.ui.live_job import BEGINS, STOP

PAUSE = 0.2  # seconds between a page that has come and the next change
SETTLED = 0.05  # seconds of processor time in a second that count as nothing
METHODS = ("data", "zero1", "zero2", "zero3", "tensor", "experts")


def serving_links() -> Iterator[str]:
    """Links that begin runs of many requests, each with lengths of its own."""
    each = {"part": "serving", "servecount": 40, "serverate": 0, "servebatch": 16, "serverun": 1}
    for number in count():
        yield query(**each, servesamples=4, servenew=64, serveprompt=4 + number % 61)


def guess_links() -> Iterator[str]:
    """Links that begin measurements of rounds of guesses, each at a temperature of its own."""
    for number in count():
        yield query(part="speculative", guessheat=f"{0.5 + number % 100 / 100:.2f}", guessspeed=1)


def parallel_links() -> Iterator[str]:
    """Links that begin trainings over four processes; more of them than are kept."""
    ways = [{"split": method} for method in METHODS]
    ways += [{"split": one, "micro": micro} for one in ("gpipe", "1f1b") for micro in (1, 2, 4, 8)]
    for way in cycle(ways):
        yield query(part="parallel", processes=4, runhere=1, **way)


def reward_links() -> Iterator[str]:
    """Links that begin 80 updates of learning from rewards; more of them than are kept."""
    for beta, group in cycle(product(BETAS, (8, 7))):
        yield query(show=1, part="reinforce", rlbeta=beta, rlgroup=group, rlupdates=80, rlrun=1)


class Runs(NamedTuple):
    """Links of a lesson that begin runs, and how much longer others may wait beside them."""

    lesson: str
    links: Callable[[], Iterator[str]]
    goal: float = 2.0


RUNS = {
    "serving": Runs("efficiency", serving_links),
    "guess": Runs("efficiency", guess_links),
    "parallel": Runs("efficiency", parallel_links),
    "rewards": Runs("reasoning", reward_links, 1.3),
}


async def work(host: str, kind: Runs, begun: asyncio.Event, end: asyncio.Event) -> list[float]:
    """Let one run after the other go on until the end is called; return the seconds of each.

    The last one is stopped, and its seconds are those until then.
    """
    links, runs = kind.links(), []
    async with Visitor(host) as visitor:
        while not end.is_set():
            start = time.monotonic()
            await visitor.open(kind.lesson, next(links))
            while visitor.polls and not end.is_set():
                if any(one.progress.text != BEGINS for one in visitor.elements("progress")):
                    begun.set()
                await asyncio.sleep(min(visitor.polls.values()))
                for fragment in list(visitor.polls):
                    await visitor.poll(fragment)
            runs.append(time.monotonic() - start)
        for button in visitor.elements("button"):
            if button.button.label.endswith(STOP):
                await visitor.set(button, trigger_value=True)
    return runs


async def settle(server: psutil.Process) -> None:
    """Wait until neither the server nor its children have anything to do."""

    def used() -> float:
        return sum(map(cpu_seconds, (server, *server.children(recursive=True))))

    for _ in range(120):
        before = used()
        await asyncio.sleep(1)
        if abs(used() - before) < SETTLED:
            return
    raise SystemExit("the server does not come to rest")


async def hand(visitor: Visitor, texts: random.Random, seed: int, changes: int) -> list[float]:
    """Change something again and again; return the seconds that each took.

    Controls move as the seed says: two turns with one seed do the same. No text comes twice.
    """
    moving, writing = Learner(visitor, random.Random(seed)), Learner(visitor, texts)
    seconds = []
    for number in range(changes):
        _, done = await (moving.change("control") if number % 2 else writing.change("text"))
        if done.exceptions:
            raise SystemExit(done.exceptions[0])
        seconds.append(done.seconds)
        await asyncio.sleep(PAUSE)
    return seconds


async def turns(host: str, server: psutil.Process, name: str, options: argparse.Namespace) -> None:
    """Measure with and without one kind of run, in turns, and print both."""
    texts = random.Random(name)
    alone: list[float] = []
    beside: list[float] = []
    runs: list[float] = []
    async with contextlib.AsyncExitStack() as stack:
        visitors = [await stack.enter_async_context(Visitor(host)) for _ in range(options.visitors)]

        async def hands(seed: int, changes: int) -> list[float]:
            each = [hand(one, texts, seed + at, changes) for at, one in enumerate(visitors)]
            return [seconds for found in await asyncio.gather(*each) for seconds in found]

        for visitor in visitors:
            await visitor.open(options.page, query(text=sentence(texts)))
        await hands(0, 6)  # fills what is computed once
        for number in range(options.rounds):
            await settle(server)
            alone += await hands(number, options.changes)
            begun, end = asyncio.Event(), asyncio.Event()
            worker = asyncio.create_task(work(host, RUNS[name], begun, end))
            going = asyncio.create_task(begun.wait())
            await asyncio.wait((worker, going), return_when=asyncio.FIRST_COMPLETED)
            if worker.done():  # it works until the end is called, or fails
                worker.result()
            beside += await hands(number, options.changes)
            end.set()
            runs += await worker
    cells = [1e3 * share(values, part) for part in (0.5, 0.95) for values in (alone, beside)]
    print(
        f"{name:<10}p50 {cells[0]:5.0f} ms, with runs {cells[1]:5.0f}: {cells[1] / cells[0]:.2f} "
        f"times (goal: {RUNS[name].goal:g}); p95 {cells[2]:5.0f}, {cells[3]:5.0f}: "
        f"{cells[3] / cells[2]:.2f} times; {len(alone)} changes each, {len(runs)} runs; seconds of "
        f"a run: {', '.join(f'{one:.0f}' for one in runs)}",
        flush=True,
    )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--changes", type=int, default=24, help="in each half of a round")
    parser.add_argument("--page", default="attention", help="the lesson of the other visitors")
    parser.add_argument("--visitors", type=int, default=1, help="how many they are")
    parser.add_argument("--only", default="", help="the kinds of run whose name contains this")
    options = parser.parse_args()
    with app() as (host, server):
        for name in RUNS:
            if options.only in name:
                asyncio.run(turns(host, server, name, options))


if __name__ == "__main__":
    main()
