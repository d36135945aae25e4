"""What every chapter sends again when nothing has changed: counted over the real websocket."""

from __future__ import annotations

import asyncio
import math
import random
import re
from argparse import Namespace
from collections import defaultdict
from typing import Any

import pytest

from benchmarks import classroom
from benchmarks.classroom import CHAPTERS, LANGUAGES, LESSONS, PARTS, SHARES, Learner
from benchmarks.visitor import Exchange, Visitor
from llmviz.course.lessons.finetuning.lora import words
from tests.awaiting import awaited

BYTES = 52_000  # of a rerun with nothing changed: what a browser has is not sent again
ELEMENTS = 67  # one of them opens a class
# Elements outside of the page: search, two buttons, languages, a text; at a first visit the secret.
FURNITURE = 6


@pytest.fixture
def host(served) -> str:
    """The server's address."""
    return served.host


GROWING = 8  # reruns after which nothing grows any more


async def ready(visitor: Visitor) -> None:
    """Let the page run as it does by itself until its models are loaded."""
    for _ in range(120):
        if not visitor.polls or visitor.elements("button_group", "text_area"):
            return
        await asyncio.sleep(0.5)
        await visitor.poll(next(iter(visitor.polls)))


# Controls of a chapter that run all of its lesson: they choose what most of the chapter shows, or
# are answered once in a chapter where a part of their own would cost every rerun more.
SHOW = "Show me without an answer"
RUN_THE_LESSON = {
    "Train one": {"Begin with", "Run", "A text for the heads", "Your answer", SHOW},
}
WAYS_ON = ("Back: ", "Next: ", "Next lesson: ")


def acts(widget: Any) -> bool:
    """Whether what is done with it runs anything: a file to fetch runs nothing."""
    return bool(getattr(widget, "id", "")) and not getattr(widget, "ignore_rerun", False)


def labels_in(visitor: Visitor, fragment: str) -> set[str]:
    """The labels of the controls that stand in a part of the page; "" is what is in no part."""
    standing = [one.element for one in visitor.standing.values() if one.fragment == fragment]
    widgets = [getattr(one, one.WhichOneof("type")) for one in standing if one is not None]
    labels = (getattr(one, "label", "") for one in widgets if acts(one))
    return {label for label in labels if label and not label.startswith(WAYS_ON)}


def part_of_the_lesson(visitor: Visitor) -> str:
    """The part of the page in which the list of chapters stands."""
    (part,) = (
        one.fragment
        for one in visitor.standing.values()
        if one.element is not None and one.element.button_group.label == PARTS
    )
    return part


async def again(host: str, lesson: str) -> tuple[dict[str, Exchange], dict[str, set[str]]]:
    """Open every chapter of a lesson and run it twice more; return the last run of each.

    And by chapter the labels of the controls that run the lesson, not a part of the chapter.
    """
    found, labels = {}, {}
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
            assert labels_in(visitor, "") == {LANGUAGES}, title  # nothing else runs all of the page
            labels[title] = labels_in(visitor, part_of_the_lesson(visitor)) if title else set()
    return found, labels


@pytest.mark.parametrize("lesson", LESSONS)
def test_a_chapter_in_which_nothing_changed_sends_little_and_a_control_runs_a_part(host, lesson):
    found, labels = awaited(again(host, lesson))
    for title, exchange in found.items():
        assert exchange.received < BYTES, title
        assert exchange.elements <= ELEMENTS, title
        assert labels[title] - {PARTS} == RUN_THE_LESSON.get(title, set()), title


def test_a_rank_counts_the_table_of_what_it_saves_and_draws_nothing_else_again(host):
    async def moved() -> Exchange:
        async with Visitor(host) as visitor:
            await visitor.open("finetuning", "part=lora")
            await ready(visitor)
            (rank,) = (one for one in visitor.elements("slider") if one.slider.label == words.rank)
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


def test_the_benchmark_of_a_class_sends_what_a_browser_sends_and_prints_what_came(
    served, monkeypatch, capsys
):
    host, process = served.host, served.process

    async def one_of_each() -> tuple[dict[str, list[Exchange]], int, list[str]]:
        seen = defaultdict(list)
        async with Visitor(host) as visitor:
            seen["first page"].append(await visitor.open("attention", "part=steps&source=model"))
            await ready(visitor)
            learner = Learner(visitor, random.Random(0))
            for kind in SHARES:
                done, exchange = await learner.change(kind)
                assert done == kind and not exchange.exceptions
                seen[kind].append(exchange)
        return dict(seen), len(learner.chosen), []

    seen, *_ = results = awaited(one_of_each())
    # What stands in a part of the page reruns that part; another lesson and a link all of it.
    parts = ["text", "control", "chapter"]
    assert [kind for kind in SHARES if seen[kind][0].fragment] == parts
    monkeypatch.setattr(classroom, "beside", lambda *_: (results, 1.5))
    given = Namespace(visitors=1, seconds=2.0, training=False)
    classroom.print_class([host], [process], given)
    printed = capsys.readouterr().out
    rows = [line.split() for line in printed.splitlines()]
    assert ["number", "p50", "ms", "p95", "max", "picture", "p95", "kB"] in rows
    for kind in SHARES:
        (cells,) = [row[1:] for row in rows if row[:1] == [kind]]
        (exchange,) = seen[kind]
        took, picture = (f"{1e3 * one:.0f}" for one in (exchange.seconds, exchange.picture))
        size = f"{exchange.received / 1e3:.0f}"
        assert cells == ["1", took, took, took, picture, picture, size]
    assert f"3 of them a part of the page, the others all of it; 1 of {len(CHAPTERS)}" in printed
    assert "errors: 0" in printed and "driver: 1.5 s" in printed
    assert re.search(r"server: [\d.]+ s of processor time, memory \d+ to \d+ MB", printed)
    assert re.search(r"a rerun: \d+ ms of a server's processor time", printed)


def test_the_visitors_of_the_benchmark_come_and_stay_without_errors(host):
    seen, _, broken = awaited(classroom.drive_class([host, host], 3, 0.5, False))
    assert broken == [] and len(seen["first page"]) == 3
    assert math.gcd(classroom.STRIDE, len(CHAPTERS)) == 1  # so that all of them are begun at
    assert [one for every in seen.values() for each in every for one in each.exceptions] == []
    taken, broken = awaited(classroom.drive_arrivals([host], 3, 0.3, False))
    assert broken == [] and len(taken) == 3
