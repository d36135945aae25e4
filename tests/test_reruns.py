"""What every chapter sends again when nothing has changed: counted over the real websocket."""

from __future__ import annotations

import asyncio
import os
import random
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.classroom import LESSONS, PARTS, Learner, class_command
from benchmarks.startup import free_port, wait_until_up
from benchmarks.visitor import Exchange, Visitor
from llmviz.lessons.finetuning.lora.words import RANK
from tests.awaiting import awaited

ROOT = Path(__file__).parents[1]
BYTES = 50_000  # of a rerun with nothing changed: what a browser has is not sent again
ELEMENTS = 60
FURNITURE = 4  # elements around a page: the sidebar's text, the styles, and what Streamlit adds


@pytest.fixture(scope="module")
def host(tmp_path_factory) -> Iterator[str]:
    port = free_port()
    server = subprocess.Popen(
        class_command(port),
        cwd=ROOT,
        env={**os.environ, "LLMVIZ_RUNS": str(tmp_path_factory.mktemp("runs"))},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        wait_until_up(f"http://127.0.0.1:{port}")
        yield f"127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait(timeout=60)


GROWING = 8  # reruns after which nothing grows any more


async def ready(visitor: Visitor) -> None:
    """Let the page run as it does by itself until its models are loaded."""
    for _ in range(120):
        if not visitor.polls or visitor.elements("button_group", "text_area"):
            return
        await asyncio.sleep(0.5)
        await visitor.poll(next(iter(visitor.polls)))


async def again(host: str, lesson: str) -> dict[str, Exchange]:
    """Open every chapter of a lesson and run it twice more; return the last run of each."""
    found = {}
    async with Visitor(host) as visitor:
        learner = Learner(visitor, random.Random(0))
        await visitor.open(lesson)
        await ready(visitor)
        listed = learner.chapters()
        for title in listed[1] if listed else [""]:
            if title:
                await learner.chapter(title)
            await visitor.reload()
            for _ in range(GROWING):  # texts that grow a piece at a time are not done at once
                found[title] = await visitor.reload()
                if found[title].received < BYTES:
                    break
            assert not found[title].exceptions, (title, found[title].exceptions)
    return found


@pytest.mark.parametrize("lesson", LESSONS)
def test_a_chapter_in_which_nothing_changed_sends_little(host, lesson):
    for title, exchange in awaited(again(host, lesson)).items():
        assert exchange.received < BYTES, title
        assert exchange.elements <= ELEMENTS, title


def test_a_rank_counts_the_table_of_what_it_saves_and_draws_nothing_else_again(host):
    async def moved() -> Exchange:
        async with Visitor(host) as visitor:
            await visitor.open("finetuning", "part=lora")
            await ready(visitor)
            (rank,) = (one for one in visitor.elements("slider") if one.slider.label == RANK)
            exchange = await visitor.set(rank, double_array_value=[9.0])
            assert "rank=9" in visitor.address
            return exchange

    exchange = awaited(moved())
    assert exchange.fragment and not exchange.exceptions
    assert exchange.elements < 10


def test_little_stands_around_a_page(host):
    async def around() -> list[str]:
        async with Visitor(host) as visitor:
            await visitor.open("glossary")
            return [
                str(one.element.WhichOneof("type"))
                for path, one in visitor.standing.items()
                if path[0] != 0 and one.element is not None  # 0 is the page's own part
            ]

    assert len(awaited(around())) <= FURNITURE


def test_the_list_of_chapters_is_found():
    source = (ROOT / "llmviz" / "ui" / "lesson.py").read_text("utf-8")
    assert f'"{PARTS}"' in source
