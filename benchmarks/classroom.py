"""A class at one server: how long thirty visitors wait, and what each change costs the server.

    python -m benchmarks.classroom [--part class|arrivals|chapters|memory] [--visitors 30]
        [--seconds 60] [--training] [--processes 2] [--visits 600] [--only WORD] [--url HOST:PORT]

The app is started by README's own command for a class. The visitors speak its websocket from a
process of their own, whose processor time is printed beside the server's: on two cores it takes a
part of the second one. Parts:

class      everybody with a text of their own changes something every two seconds: a new text, a
           control, another chapter, another lesson or a link; they begin at different chapters,
           and who changes the chapter takes one that the class has chosen least. Goals for
           thirty: half of the changes within 100 ms, 95 % within 400.
arrivals   that many open a link within ten seconds on a warm server: when each has its page.
           Goal: 3 s.
chapters   one visitor alone, chapter by chapter: the server's processor time and the bytes of a
           first opening, of a rerun with nothing changed, of a new text, of a control, and of the
           reruns that the page then asks for by itself. Goals: 300 for the first; 25 with nothing
           changed, 12 for the glossary; 45 for a new text, 90 for any of them.
memory     what a session adds while it is open, and what stays after many visits. Goal: 3 MB.

--training: one visitor of the class trains a model; while others arrive, somebody who is there
already. --processes 2: so many servers with one folder of runs, as deploy/ has behind nginx; the
visitors of a class, and those who arrive, are shared out among them.
Seconds are those of the wall until the script has ended; "picture" is until its last picture has
come, which is what the hand waits for. --url drives servers that run already (several, parted by
commas); nothing is then known of their processor time.
"""

from __future__ import annotations

import argparse
import asyncio
import multiprocessing
import os
import random
import re
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

import psutil
from streamlit.proto.Element_pb2 import Element

from benchmarks.startup import ROOT, free_port, wait_until_up
from benchmarks.visitor import Exchange, Visitor, query
from llmviz.course.lessons import LESSONS as LISTED
from llmviz.course.ui.furniture import words as furniture

# As addresses write them: the first lesson is the home page, which has none.
LESSONS = ("", *(lesson.key for lesson in LISTED[1:]))
# All chapters: the lesson's address, and the chapter's key and title.
CHAPTERS = [
    (page, chapter.key, chapter.title)
    for page, lesson in zip(LESSONS, LISTED, strict=True)
    for chapter in lesson.chapters
]
STRIDE = 29  # visitors who come one after the other begin so many chapters apart
WORDS = "Once Anna Samir found key met market old tree river gave ball then house".split()  # noqa: SIM905
PACE = 2.0  # seconds between two changes of one visitor
CONTROLS = ("slider", "button_group", "selectbox", "radio", "number_input", "bidi_component")
PARTS, LANGUAGES = furniture.parts, furniture.language
START = "Start"  # the button that begins a training run
SHARES = {"text": 0.45, "control": 0.35, "chapter": 0.12, "lesson": 0.04, "link": 0.04}


def class_command(port: int) -> list[str]:
    """Return README's command for a class, with this Python's Streamlit and a port of its own."""
    readme = (ROOT / "docs" / "CLASS.md").read_text("utf-8").split("## Serve a class")[1]
    line = re.findall(r"```sh\n(.*?)```", readme, re.S)[0].splitlines()[0]
    program, *rest = shlex.split(line)
    assert program == "streamlit", line
    return [sys.executable, "-m", "streamlit", *rest, "--server.port", str(port)]


@contextmanager
def app(warm: bool = True) -> Iterator[tuple[str, psutil.Process]]:
    """The app as a class gets it, on a free port of its own; runs lie in a folder of the moment."""
    with apps(1, warm) as ((host,), (process,)):
        yield host, process


@contextmanager
def apps(number: int, warm: bool = True) -> Iterator[tuple[list[str], list[psutil.Process]]]:
    """So many servers of the app, each on a port of its own, with one folder of runs for all."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as runs, ExitStack() as servers:
        started = [servers.enter_context(_started(runs)) for _ in range(number)]
        hosts, processes = [host for host, _ in started], [process for _, process in started]
        for host, process in started:
            wait_until_up(f"http://{host}")
            if warm:
                asyncio.run(warmed(host))
                rest(process)
        yield hosts, processes


@contextmanager
def _started(runs: str) -> Iterator[tuple[str, psutil.Process]]:
    port = free_port()
    server = subprocess.Popen(
        class_command(port),
        cwd=ROOT,
        env={**os.environ, "LLMVIZ_RUNS": runs},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield f"127.0.0.1:{port}", psutil.Process(server.pid)
    finally:
        server.terminate()
        server.wait(timeout=60)


def rest(process: psutil.Process) -> None:
    """Wait until a server has done what it does ahead of its visitors: two seconds of idleness."""
    idle = 0
    for _ in range(120):
        before = cpu_seconds(process)
        time.sleep(0.5)
        idle = idle + 1 if cpu_seconds(process) - before < 0.02 else 0
        if idle == 4:
            return


async def warmed(host: str, path: str = "") -> None:
    """Visit every lesson once the home page has its model; path: below which the app lies."""
    async with Visitor(host, path) as visitor:
        await visitor.open()
        for _ in range(120):
            if not visitor.polls:
                break
            await asyncio.sleep(0.5)
            await visitor.poll(next(iter(visitor.polls)))
        for lesson in LESSONS[1:]:
            await visitor.go_to(lesson)


def cpu_seconds(process: psutil.Process) -> float:
    """Processor time that a process has taken, without its children."""
    try:
        return time.clock_gettime((~process.pid << 3) | 2)  # Linux: the clock of another process
    except (OSError, AttributeError, OverflowError):
        times = process.cpu_times()
        return times.user + times.system


def megabytes(process: psutil.Process) -> float:
    """Memory that a process holds."""
    return process.memory_info().rss / 1e6


def sentence(chance: random.Random) -> str:
    """A text that nobody else has."""
    return " ".join(chance.choice(WORDS) for _ in range(8)) + f" {chance.randrange(10_000)}"


# ---- one visitor's hand


@dataclass
class Learner:
    """A visitor and what they do by chance; how often the class chose each chapter."""

    visitor: Visitor
    chance: random.Random
    chosen: Counter[tuple[str, str]] = field(default_factory=Counter)

    async def change(self, kind: str = "") -> tuple[str, Exchange]:
        """Do one thing; return what it was. Where a page has no such control, another is taken."""
        deeds: dict[str, Callable[[], Awaitable[Exchange] | None]] = {
            "text": self.new_text,
            "control": self.control,
            "chapter": self.chapter,
            "lesson": self.lesson,
            "link": self.link,
        }
        kinds = [kind] if kind else self.chance.choices(list(SHARES), list(SHARES.values()))
        for one in [*kinds, "control", "lesson"]:
            going = deeds[one]()
            if going is not None:
                return one, await going
        raise RuntimeError("this page has neither controls nor other lessons")

    def new_text(self) -> Awaitable[Exchange] | None:
        """Type another text into the first box for one: a large one, or a line with words in it."""
        boxes = self.visitor.elements("text_area") or [
            one
            for one in self.visitor.elements("text_input")
            if " " in (one.text_input.value or one.text_input.default).strip()
        ]
        if not boxes:
            return None
        return self.visitor.set(boxes[0], string_value=sentence(self.chance))

    def chapters(self) -> tuple[Element, list[str]] | None:
        """The list of the lesson's chapters and their titles."""
        for one in self.visitor.elements("button_group"):
            if one.button_group.label == PARTS:
                return one, [option.content for option in one.button_group.options]
        return None

    def chapter(self, title: str = "") -> Awaitable[Exchange] | None:
        """Choose a chapter of this lesson: one that the class chose least, unless it is named."""
        listed = self.chapters()
        if listed is None:
            return None
        element, titles = listed
        self.chance.shuffle(titles)
        title = title or min(titles, key=lambda one: self.chosen[self.visitor.page, one])
        self.chosen[self.visitor.page, title] += 1
        return self.visitor.set(element, string_array_value=[title])

    def lesson(self) -> Awaitable[Exchange]:
        """Choose another lesson."""
        return self.visitor.go_to(self.chance.choice(LESSONS))

    def link(self) -> Awaitable[Exchange]:
        """Open a link with a text of its own."""
        page = self.chance.choice(("", "tokenization", "attention"))
        return self.visitor.open(page, query(text=sentence(self.chance)))

    def control(self) -> Awaitable[Exchange] | None:
        """Move one of the controls that stand on the page; None where there is none."""
        going = [
            act
            for element in self.visitor.elements(*CONTROLS)
            if (act := self._move(element)) is not None
        ]
        return self.chance.choice(going)() if going else None

    def _move(self, element: Element) -> Callable[[], Awaitable[Exchange]] | None:
        visitor, chance = self.visitor, self.chance
        kind = element.WhichOneof("type")
        widget: Any = getattr(element, kind)
        if kind == "bidi_component":
            return _act_of(visitor, element)
        if widget.disabled:
            return None
        if kind == "slider":
            if widget.type == widget.SELECT_SLIDER:
                option = chance.choice(list(widget.options))
                return lambda: visitor.set(element, string_array_value=[option])
            steps = int((widget.max - widget.min) / widget.step) if widget.step else 0
            to = widget.min + chance.randint(0, steps) * widget.step
            return lambda: visitor.set(element, double_array_value=[to])
        if kind == "number_input":
            if not widget.has_min or not widget.has_max:
                return None
            # Near the lower end: what takes long is bounded by the page, not by this benchmark.
            steps = min(5, int((widget.max - widget.min) / widget.step))
            to = widget.min + chance.randint(0, steps) * widget.step
            return lambda: visitor.set(element, double_value=to)
        if kind == "button_group":
            if widget.label in (PARTS, LANGUAGES) or not widget.options or not widget.required:
                return None
            option = chance.choice(list(widget.options)).content
            return lambda: visitor.set(element, string_array_value=[option])
        if not widget.options:
            return None
        text = chance.choice(list(widget.options))
        return lambda: visitor.set(element, string_value=text)


def _act_of(visitor: Visitor, element: Element) -> Callable[[], Awaitable[Exchange]] | None:
    """What the hand does in a component that commits on release."""
    name = element.bidi_component.component_name
    if name == "llmviz_sampler":
        return lambda: visitor.act(
            element, {"set": "temperature", "value": random.choice((0.5, 2))}
        )
    if name == "llmviz_softmax_view":
        return lambda: visitor.act(element, {"at": random.randint(1, 8)})
    return None


# ---- what the driver measures; each runs in a process of its own


Seen = dict[str, list[Exchange]]  # what came back, by what was done


async def one_learner(
    host: str, seed: int, until: float, trains: bool, seen: Seen, chosen: Counter[tuple[str, str]]
) -> None:
    """One visitor of a class, from their first page to the end of the hour."""
    chance = random.Random(seed)
    await asyncio.sleep(chance.random() * min(10.0, (until - time.monotonic()) / 3))
    async with Visitor(host) as visitor:
        learner = Learner(visitor, chance, chosen)
        if trains:
            await begin_run(visitor, seen)
        else:
            page, part, title = CHAPTERS[seed * STRIDE % len(CHAPTERS)]
            text = {"text": sentence(chance)} if page in ("tokenization", "attention") else {}
            seen["first page"].append(await visitor.open(page, query(part=part, **text)))
            chosen[visitor.page, title] += 1
        while time.monotonic() < until:
            due = time.monotonic() + PACE * (0.5 + chance.random())
            await polled_until(visitor, min(due, until), seen)
            if time.monotonic() < until and not trains:
                kind, exchange = await learner.change()
                seen[kind].append(exchange)


async def begin_run(visitor: Visitor, seen: Seen) -> None:
    """Train a model with the settings that the page gives."""
    seen["first page"].append(await visitor.open("training", "part=runs"))
    start = next(one for one in visitor.elements("button") if one.button.label == START)
    seen["start of a run"].append(await visitor.set(start, trigger_value=True))


async def polled_until(visitor: Visitor, due: float, seen: Seen) -> None:
    """Wait, and rerun by itself what the page asked to be rerun meanwhile."""
    while visitor.polls and (wait := min(visitor.polls.values())) < due - time.monotonic():
        await asyncio.sleep(wait)
        for fragment in list(visitor.polls):
            seen["by itself"].append(await visitor.poll(fragment))
    await asyncio.sleep(max(0.0, due - time.monotonic()))


async def drive_class(hosts: list[str], visitors: int, seconds: float, training: bool) -> Any:
    """All visitors at once; return what came back by kind, the number of chapters, and errors."""
    seen: Seen = defaultdict(list)
    chosen: Counter[tuple[str, str]] = Counter()
    until = time.monotonic() + seconds
    ended = await asyncio.gather(
        *(
            one_learner(hosts[i % len(hosts)], i, until, training and i == 0, seen, chosen)
            for i in range(visitors)
        ),
        return_exceptions=True,
    )
    broken = [repr(error) for error in ended if isinstance(error, BaseException)]
    return dict(seen), len(chosen), broken


async def drive_arrivals(hosts: list[str], visitors: int, seconds: float, training: bool) -> Any:
    """Everybody opens a link at a moment of their own; return what each waited, and errors."""

    async def arrive(i: int) -> float:
        chance = random.Random(i)
        await asyncio.sleep(seconds * i / visitors)
        begun = time.perf_counter()
        async with Visitor(hosts[i % len(hosts)]) as visitor:
            page = LESSONS[i % len(LESSONS)]
            text = {"text": sentence(chance)} if page in ("", "tokenization", "attention") else {}
            exchange = await visitor.open(page, query(**text))
            taken = time.perf_counter() - begun
            if exchange.exceptions:
                raise RuntimeError(exchange.exceptions[0])
            await asyncio.sleep(seconds)  # they stay
        return taken

    async with AsyncExitStack() as stack:
        if training:
            await begin_run(await stack.enter_async_context(Visitor(hosts[0])), defaultdict(list))
        ended = await asyncio.gather(*(arrive(i) for i in range(visitors)), return_exceptions=True)
    broken = [repr(error) for error in ended if isinstance(error, BaseException)]
    return [taken for taken in ended if isinstance(taken, float)], broken


def drive(pipe: Any, task: Callable[..., Any], given: tuple[Any, ...]) -> None:
    """Run a task of the driver and send back what it returns and its processor time."""
    begun = time.process_time()
    pipe.send((asyncio.run(task(*given)), time.process_time() - begun))


def beside(task: Callable[..., Any], *given: Any) -> tuple[Any, float]:
    """Run a task of the driver in a process of its own."""
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=drive, args=(there, task, given))
    process.start()
    there.close()
    try:
        result: tuple[Any, float] = here.recv()
    finally:
        process.join()
    return result


# ---- what is printed


def share(values: list[float], part: float) -> float:
    """Return the value below which a part of the values lies."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(part * len(ordered)))] if ordered else float("nan")


def line_of(name: str, all_of_it: list[Exchange]) -> str:
    """One line of the table of a class."""
    seconds = [1e3 * one.seconds for one in all_of_it]
    picture = [1e3 * one.picture for one in all_of_it]
    size = statistics.fmean(one.received for one in all_of_it) / 1e3
    return (
        f"{name:<16}{len(all_of_it):6d}{share(seconds, 0.5):9.0f}{share(seconds, 0.95):9.0f}"
        f"{max(seconds):9.0f}{share(picture, 0.5):9.0f}{share(picture, 0.95):9.0f}{size:10.0f}"
    )


def visitors_of(given: Any, hosts: list[str]) -> str:
    """How many visitors there are, and at how many servers."""
    return f"{given.visitors} visitors" + (f" at {len(hosts)} servers" if len(hosts) > 1 else "")


def print_class(hosts: list[str], servers: list[psutil.Process], given: Any) -> None:
    """A class at work."""
    before = [(cpu_seconds(one), megabytes(one)) for one in servers]
    task = (drive_class, hosts, given.visitors, given.seconds, given.training)
    (seen, chosen, broken), own = beside(*task)
    print(
        f"\n{visitors_of(given, hosts)}, {given.seconds:.0f} s, a change every {PACE:.0f} s each"
        f"{', one of them trains' if given.training else ''}"
    )
    print(
        f"{'':<16}{'number':>6}{'p50 ms':>9}{'p95':>9}{'max':>9}{'picture':>9}{'p95':>9}{'kB':>10}"
    )
    changes = [one for kind in SHARES for one in seen.get(kind, [])]
    for kind in ("first page", *SHARES, "start of a run", "by itself"):
        if seen.get(kind):
            print(line_of(kind, seen[kind]))
    if changes:
        print(line_of("all changes", changes))
        print(
            f"{sum(one.fragment for one in changes)} of them a part of the page, the others all of "
            f"it; {chosen} of {len(CHAPTERS)} chapters chosen"
        )
    errors = [text for all_of_it in seen.values() for one in all_of_it for text in one.exceptions]
    print(f"errors: {len(errors) + len(broken)} {sorted({*errors, *broken})[:5] or ''}")
    taken = [cpu_seconds(one) - cpu for one, (cpu, _) in zip(servers, before, strict=True)]
    for one, cpu, (_, held) in zip(servers, taken, before, strict=True):
        print(
            f"server: {cpu:.1f} s of processor time, memory {held:.0f} to {megabytes(one):.0f} MB"
        )
    number = sum(len(all_of_it) for all_of_it in seen.values())
    if taken and number:
        print(f"a rerun: {1e3 * sum(taken) / number:.0f} ms of a server's processor time")
    print(f"driver: {own:.1f} s")


def print_arrivals(hosts: list[str], servers: list[psutil.Process], given: Any) -> None:
    """Everybody comes at once."""
    (taken, broken), own = beside(drive_arrivals, hosts, given.visitors, 10.0, given.training)
    print(
        f"\n{visitors_of(given, hosts)} arrive within 10 s"
        f"{', while somebody trains' if given.training else ''}: "
        f"page after {share(taken, 0.5):.2f} s (p50), {share(taken, 0.95):.2f} (p95), "
        f"{max(taken, default=float('nan')):.2f} (last); goal: 3; "
        f"errors: {len(broken)} {broken[:3] or ''}; driver: {own:.1f} s"
    )


async def chapter_lines(host: str, server: psutil.Process, only: str) -> list[dict[str, float]]:
    """Each chapter alone; return and print what it costs."""
    rows = []
    for lesson in LESSONS:
        async with Visitor(host) as visitor:
            await visitor.open(lesson)
            listed = Learner(visitor, random.Random(0)).chapters()
        for title in listed[1] if listed else [""]:
            name = f"{lesson or 'home'} {title}".strip()
            if only not in name:
                continue
            rows.append(await chapter_costs(host, server, lesson, title))
            cells = [rows[-1].get(key, float("nan")) for key in COLUMNS]
            print(f"{name[:44]:<45}" + "".join(f"{cell:9.0f}" for cell in cells), flush=True)
    return rows


COLUMNS = ("first", "same", "text", "control", "itself")
COLUMNS += ("kB first", "kB same", "kB text", "elements")
MOST_LOOKS = 60  # reruns of a page by itself after one change: a run goes on for longer than that


async def chapter_costs(
    host: str, server: psutil.Process, lesson: str, title: str, rounds: int = 5
) -> dict[str, float]:
    """Milliseconds of the server's processor and kilobytes, each a median but for the first."""
    costs: dict[str, list[float]] = defaultdict(list)
    sizes: dict[str, list[float]] = defaultdict(list)

    async def take(kind: str, going: Awaitable[Exchange]) -> Exchange:
        begun = cpu_seconds(server)
        exchange = await going
        costs[kind].append(1e3 * (cpu_seconds(server) - begun))
        sizes[kind].append(exchange.received / 1e3)
        for text in exchange.exceptions:
            print(f"    {lesson} {title}: {text}")
        return exchange

    async def settle() -> None:
        """Rerun what the page asks for by itself, until it has all that it waits for."""
        for _ in range(MOST_LOOKS):
            if not visitor.polls:
                return
            await asyncio.sleep(min(visitor.polls.values()))
            for fragment in list(visitor.polls):
                await take("itself", visitor.poll(fragment))

    async with Visitor(host) as visitor:
        learner = Learner(visitor, random.Random(len(title)))
        if title:
            await visitor.open(lesson)
            chosen = learner.chapter(title)
            assert chosen is not None
            await take("first", chosen)
        else:
            await visitor.open("glossary")
            await take("first", visitor.go_to(lesson))
        await settle()
        for _ in range(rounds):
            same = await take("same", visitor.reload())
            await settle()
        for _ in range(rounds):
            text = learner.new_text()
            if text is not None:
                await take("text", text)
                await settle()
        for _ in range(rounds):
            control = learner.control()
            if control is not None:
                await take("control", control)
                await settle()
    found = {kind: statistics.median(values) for kind, values in costs.items()}
    found |= {f"kB {kind}": statistics.median(values) for kind, values in sizes.items()}
    return found | {"elements": same.elements}


def print_chapters(hosts: list[str], servers: list[psutil.Process], given: Any) -> None:
    """What a rerun costs, chapter by chapter."""
    if not servers:
        raise SystemExit("the cost of a chapter is that of a server started here: leave out --url")
    print(f"\n{'server, ms of processor time':<45}" + "".join(f"{name:>9}" for name in COLUMNS))
    rows = asyncio.run(chapter_lines(hosts[0], servers[0], given.only))
    for name, part in (("median", 0.5), ("largest", 1.0)):
        cells = [share([row[key] for row in rows if key in row], part) for key in COLUMNS]
        print(f"{name:<45}" + "".join(f"{cell:9.0f}" for cell in cells))


async def visits(host: str, server: psutil.Process, number: int, open_at_once: int) -> None:
    """What sessions add to the server's memory while they are open and when they are gone."""

    async def visit(i: int, stack: AsyncExitStack) -> None:
        visitor = await stack.enter_async_context(Visitor(host))
        learner = Learner(visitor, random.Random(i))
        await visitor.open(LESSONS[i % len(LESSONS)])
        for kind in ("text", "control", "chapter"):
            await learner.change(kind)

    for i in range(len(LESSONS)):  # fills what is shared by all
        async with AsyncExitStack() as stack:
            await visit(i, stack)
    base = megabytes(server)
    async with AsyncExitStack() as stack:
        for i in range(open_at_once):
            await visit(i, stack)
        held = (megabytes(server) - base) / open_at_once
        print(f"{open_at_once} open sessions: {held:.2f} MB each (goal: 3)", flush=True)
    for i in range(1, number + 1):
        async with AsyncExitStack() as stack:
            await visit(i, stack)
        if i % max(1, number // 6) == 0:
            print(
                f"after {i:4d} visits: {megabytes(server):7.0f} MB, {server.num_fds():4d} open "
                "files",
                flush=True,
            )


def print_memory(hosts: list[str], servers: list[psutil.Process], given: Any) -> None:
    """What sessions cost in memory and open files."""
    if not servers:
        raise SystemExit("memory is that of a server started here: leave out --url")
    print()
    asyncio.run(visits(hosts[0], servers[0], given.visits, given.visitors))


MEASURES = {
    "chapters": print_chapters,
    "class": print_class,
    "arrivals": print_arrivals,
    "memory": print_memory,
}
SHARED = ("class", "arrivals")  # which several servers can share


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--part", choices=MEASURES, action="append", help="all unless named")
    parser.add_argument("--visitors", type=int, default=30)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--training", action="store_true", help="somebody trains a model")
    parser.add_argument(
        "--processes",
        type=int,
        default=1,
        choices=range(1, 17),
        metavar="N",
        help="servers that share the visitors of a class",
    )
    parser.add_argument("--visits", type=int, default=600)
    parser.add_argument("--only", default="", help="the chapters whose name contains this")
    parser.add_argument("--url", default="", help="HOST:PORT of servers that run already")
    parser.add_argument("--cold", action="store_true", help="nobody has visited the server before")
    given = parser.parse_args()
    for name in given.part or MEASURES:
        if given.url:
            MEASURES[name](given.url.split(","), [], given)
            continue
        number = given.processes if name in SHARED else 1
        with apps(number, warm=not given.cold) as (hosts, servers):
            MEASURES[name](hosts, servers, given)


if __name__ == "__main__":
    main()
