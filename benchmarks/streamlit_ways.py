"""What this project does by itself where Streamlit has a way of its own, beside that way.

    python -m benchmarks.streamlit_ways [--part kept|controls|alone|parallel|patches]

kept       microseconds until a stored result is handed out: `kept` beside `cache_resource` (with
           the arguments as they are, and with `hash_funcs` for the model) and `cache_data`.
controls   milliseconds of the processor for a rerun of a page with twelve sliders: plain ones,
           `persist_state`, `bind="query-params"`, and `state.ranged`. In turns in one process.
alone      every control of Streamlit's on every chapter is moved once. Printed: those after which
           nothing else on the page is another, which `on_change="ignore"` would suit.
parallel   every chapter is opened at two servers in turns, whose fragments run as they are and with
           `parallel=True`. Printed: processor time, seconds, chapters that show an exception.
patches    a ninth of the chapters is run again at two servers in turns, with and without each part
           of `llmviz.course.streamlit_parts` that is there for speed. Printed: the ratio.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np
import psutil
import streamlit as st
from streamlit.testing.v1 import AppTest

from benchmarks.classroom import (
    CHAPTERS,
    CONTROLS,
    LANGUAGES,
    PARTS,
    Learner,
    app,
    cpu_seconds,
    rest,
)
from benchmarks.startup import ROOT, free_port, wait_until_up
from benchmarks.timing import median_ms
from benchmarks.visitor import Visitor, query
from llmviz.course.ui.cached import cached

PARALLEL = """
import functools, sys
import streamlit
from streamlit.web.cli import main
own = streamlit.fragment
streamlit.fragment = lambda func=None, **more: (
    own(func, **more, parallel=True) if func else functools.partial(own, **more, parallel=True)
)
sys.argv[0] = "streamlit"
main()
"""
FOR_SPEED = (
    "look_up_values",
    "ask_without_errors",
    "read_theme_once",
    "copy_blocks_once",
    "wake_once",
)
WITHOUT = """
import sys
from streamlit.web.cli import main
from llmviz.course import streamlit_parts
streamlit_parts.{name} = lambda: None
sys.argv[0] = "streamlit"
main()
"""


# ---- what is stored


class Model:
    """Stands for a loaded model, which a key knows by its name and version."""

    kept_as = ("a model", 1)


def print_kept() -> None:
    """Print how long a stored result takes to come back, by the way that it was stored."""
    chance = np.random.default_rng(0)

    def weights(model: Model, given: Any, layer: int) -> list[np.ndarray]:
        return [chance.random((4, 64, 64), np.float32) for _ in range(8)]

    def named(_model: Model, name: str, given: Any, layer: int) -> list[np.ndarray]:
        return weights(_model, given, layer)

    model, hashed = Model(), {Model: lambda model: model.kept_as}
    resource, data = st.cache_resource(show_spinner=False), st.cache_data(show_spinner=False)
    own, by_name, copied = cached(16)(weights), resource(named), data(named)
    by_hash = st.cache_resource(show_spinner=False, hash_funcs=hashed)(weights)
    for what, given in ("a text of 120 characters", "a kitten" * 15), ("300 ids", (*range(300),)):
        ways: dict[str, Callable[[], object]] = {
            "kept": lambda given=given: own(model, given, 3),
            "cache_resource": lambda given=given: by_name(model, "a model", given, 3),
            "hash_funcs": lambda given=given: by_hash(model, given, 3),
            "cache_data": lambda given=given: copied(model, "a model", given, 3),
        }
        times = {name: 1e3 * median_ms(way, 500) for name, way in ways.items()}
        print(f"{what}: " + ", ".join(f"{name} {us:.1f}" for name, us in times.items()) + " µs")


# ---- controls


def _plain() -> None:
    import streamlit as st

    for i in range(12):
        st.slider(f"{i}", 0, 100, 50, key=f"k{i}")


def _persisting() -> None:
    import streamlit as st

    for i in range(12):
        st.slider(f"{i}", 0, 100, 50, key=f"k{i}", persist_state="session")


def _bound() -> None:
    import streamlit as st

    for i in range(12):
        st.slider(f"{i}", 0, 100, 50, key=f"k{i}", bind="query-params")


def _ours() -> None:
    import streamlit as st

    from llmviz.course.ui import codec
    from llmviz.course.ui.state import THROUGH_APP, page_state

    st.session_state[THROUGH_APP] = True
    state = page_state("sampling", [codec.number(f"k{i}", 50, 0, 100) for i in range(12)])
    for i in range(12):
        st.slider(f"{i}", **state.ranged(f"k{i}"))


def print_controls() -> None:
    """Print what a rerun costs with twelve sliders, one of which was moved."""
    pages = {
        page.__name__: AppTest.from_function(page, default_timeout=60).run()
        for page in (_plain, _persisting, _bound, _ours)
    }
    spent: dict[str, list[float]] = {name: [] for name in pages}
    for i in range(300):
        for name, page in pages.items():
            page.slider[i % 12].set_value(i % 100)
            begun = time.process_time()
            page.run()
            spent[name].append(1e3 * (time.process_time() - begun))
    for name, times in spent.items():
        print(f"{name[1:]:<12} {statistics.median(times):.2f} ms")


# ---- controls that change nothing else


async def _alone(host: str) -> None:
    moved, left = 0, []
    for page, part, _ in CHAPTERS:
        number, all_of_them = 0, 1
        while number < all_of_them:
            async with Visitor(host) as visitor:
                await visitor.open(page, query(part=part))
                await visitor.reload()
                controls = [
                    one
                    for one in visitor.elements(*CONTROLS[:-1], "checkbox", "text_input")
                    if getattr(getattr(one, one.WhichOneof("type")), "label", "")
                    not in (PARTS, LANGUAGES)
                ]
                all_of_them = len(controls)
                if not controls:
                    break
                element = controls[number]
                number += 1
                label, others = await _move(visitor, element)
                if label:
                    moved += 1
                    left += [] if others else [f"{page or 'home'}/{part}: {label}"]
    print(f"{moved} controls moved; nothing else changed after {len(left)} of them")
    print(*left, sep="\n")


async def _move(visitor: Visitor, element: Any) -> tuple[str, int]:
    """Give a control another value; return its name and how many other elements changed."""
    kind = element.WhichOneof("type")
    widget = getattr(element, kind)
    before = _standing(visitor, widget.id)
    if kind == "checkbox":
        await visitor.set(element, bool_value=not widget.default)
    elif kind == "text_input":
        await visitor.set(element, string_value="7")
    else:
        learner, was = Learner(visitor, random.Random(0)), _value(visitor, element)
        for _ in range(20):
            going = learner._move(element)
            if going is None:
                return "", 0
            await going()
            (element,) = [one for one in visitor.elements(kind) if _id(one) == widget.id] or [None]
            if element is None or _value(visitor, element) != was:
                break
    after = _standing(visitor, widget.id)
    return widget.label, sum(
        before.get(path) != after.get(path) for path in before.keys() | after.keys()
    )


def _id(element: Any) -> str:
    return getattr(getattr(element, element.WhichOneof("type")), "id", "")


def _value(visitor: Visitor, element: Any) -> str:
    return str(visitor._values.get(_id(element), ""))


def _standing(visitor: Visitor, but: str) -> dict[tuple[int, ...], bytes]:
    found = {}
    for path, one in visitor.standing.items():
        if one.element is not None and _id(one.element) != but:
            found[path] = one.element.SerializeToString()
    return found


# ---- fragments at the same time


@contextmanager
def _server(code: str) -> Iterator[tuple[str, psutil.Process]]:
    port = free_port()
    line = [sys.executable, *(["-c", code] if code else ["-m", "streamlit"]), "run", "app.py"]
    server = subprocess.Popen(
        [*line, f"--server.port={port}"],
        cwd=ROOT,
        env=os.environ,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        wait_until_up(f"http://127.0.0.1:{port}")
        yield f"127.0.0.1:{port}", psutil.Process(server.pid)
    finally:
        server.terminate()
        server.wait(timeout=60)


async def _opened(
    host: str, process: psutil.Process, chapters: Sequence[tuple[str, str, Any]], reruns: int
) -> tuple[float, float, int]:
    """Open and rerun chapters; return processor time, seconds, chapters with exceptions."""
    used, seconds, wrong = 0.0, 0.0, 0
    for page, part, _ in chapters:
        async with Visitor(host) as visitor:
            seen = [await visitor.open(page, query(part=part))]
            before = cpu_seconds(process)
            seen += [await visitor.reload() for _ in range(reruns)]
            used += cpu_seconds(process) - before
            seconds += sum(again.seconds for again in seen[1:])
            wrong += any(each.exceptions for each in seen)
    return used, seconds, wrong


def _in_turns(
    codes: dict[str, str], chapters: Sequence[tuple[str, str, Any]], reruns: int, turns: int
) -> dict[str, list[tuple[float, float, int]]]:
    """What `_opened` finds at servers beside each other, by name, but for the first time."""
    found: dict[str, list[tuple[float, float, int]]] = {name: [] for name in codes}
    with ExitStack() as open_servers:
        servers = {name: open_servers.enter_context(_server(code)) for name, code in codes.items()}
        for _ in range(turns + 1):
            for name, (host, process) in servers.items():
                rest(process)
                found[name].append(asyncio.run(_opened(host, process, chapters, reruns)))
    return {name: rows[1:] for name, rows in found.items()}


def print_parallel() -> None:
    """Print what it costs to run all chapters again, with fragments one by one and at once."""
    found = _in_turns({"one by one": "", "parallel": PARALLEL}, CHAPTERS, 1, 3)
    each = 1e3 / len(CHAPTERS)
    for name, rows in found.items():
        for used, seconds, wrong in rows:
            print(
                f"{name:<12} {used * each:.1f} ms of processor, {seconds * each:.1f} ms, "
                f"{wrong} of {len(CHAPTERS)} chapters with an exception"
            )


def print_patches() -> None:
    """Print what a rerun costs without each part of `streamlit_parts` that is there for speed."""
    chapters = CHAPTERS[::9]
    for name in FOR_SPEED:
        codes = {"with": "", "without": WITHOUT.format(name=name)}
        found = _in_turns(codes, chapters, 8, 4)
        used = {kind: [row[0] for row in rows] for kind, rows in found.items()}
        ratios = [b / a for a, b in zip(used["with"], used["without"], strict=True)]
        each = 1e3 * statistics.median(used["with"]) / (8 * len(chapters))
        print(
            f"{name:<20} without it {statistics.median(ratios):.3f} times the processor's time "
            f"({min(ratios):.3f} to {max(ratios):.3f}); with it {each:.1f} ms a rerun",
            flush=True,
        )


def print_alone() -> None:
    """Print the controls that change nothing else on their page."""
    with app() as (host, _):
        asyncio.run(_alone(host))


def main() -> None:
    """Print one part, or all."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parts = {
        "kept": print_kept,
        "controls": print_controls,
        "alone": print_alone,
        "parallel": print_parallel,
        "patches": print_patches,
    }
    parser.add_argument("--part", choices=parts)
    given = parser.parse_args()
    for name, do in parts.items():
        if given.part in (None, name):
            print(f"-- {name}", flush=True)
            do()


if __name__ == "__main__":
    main()
