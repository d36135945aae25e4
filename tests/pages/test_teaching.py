"""The plans for teachers: each link opens what it says, and each answer is the one of today."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import NamedTuple
from urllib.parse import parse_qsl, urlsplit

import pytest

from llmviz.cli import parser
from llmviz.course.document.marks import as_markdown
from llmviz.course.lessons import LESSONS
from llmviz.course.ui.contents import LANGUAGE, controls_of
from llmviz.course.ui.placed_question import PlacedQuestion, questions_of
from llmviz.course.ui.question import Question
from llmviz.course.ui.worksheet import ADDRESS

FOLDER = Path(__file__).parents[2] / "docs" / "teaching"
PLANS = {path.stem: path.read_text("utf-8") for path in sorted(FOLDER.glob("*.md"))}
INDEX = PLANS.pop("README")
BY_KEY = {lesson.key: lesson for lesson in LESSONS}
LENGTHS = {"hour": 60, "workshop": 360}
PARTS = ["Predict", "What pupils usually believe", "In pairs", "Before you leave"]
LINK = re.compile(r"\[([^\]]+)\]\((http[^)]+)\)")
ROW = re.compile(r"^\| (\d+)–(\d+) \| ([^|]+) \|([^|]*)\|$", re.M)
ASKED = re.compile(
    r"^\[[^\]]+\]\((?P<link>http\S+)\)\n\n> (?P<text>.+)\n\n"
    r"(?P<answers>(?:- \[[ x]\] .+\n)+)\n\*Why:\* (?P<why>.+)$",
    re.M,
)
OF_NO_CHAPTER = {"part", "show", "course", LANGUAGE.key}


class Place(NamedTuple):
    """Where a link leads."""

    lesson: str
    chapter: str
    controls: tuple[tuple[str, str], ...]


def place_of(link: str) -> Place:
    parts = urlsplit(link)
    assert f"{parts.scheme}://{parts.netloc}" == ADDRESS, link
    given = dict(parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query)))
    chapter = given.pop("part", "")
    return Place(parts.path.strip("/") or LESSONS[0].key, chapter, tuple(given.items()))


@cache
def asked(place: Place) -> list[PlacedQuestion]:
    given = {key: value for key, value in place.controls if key not in ("show", "course")}
    return questions_of(place.lesson, place.chapter, **given)


def one_line(text: str) -> str:
    return " ".join(as_markdown(text).split())


def block(question: Question) -> str:
    """A question as a plan writes it."""
    right = question.right
    answers = [
        f"- [{'x' if at == right else ' '}] {one_line(question.answers[at])}\n"
        for at in question.order
    ]
    why = one_line(question.reasons[right])
    return f"> {one_line(question.text)}\n\n{''.join(answers)}\n*Why:* {why}"


def test_there_is_a_plan_for_each_lesson_an_hour_and_a_day():
    assert set(PLANS) == {lesson.key for lesson in LESSONS if lesson.names} | set(LENGTHS)
    assert set(re.findall(r"\]\((\w+)\.md\)", INDEX)) == set(PLANS)


@pytest.mark.parametrize("name", PLANS)
def test_a_plan_has_its_parts_and_its_minutes_follow_each_other(name):
    plan = PLANS[name]
    assert re.findall(r"^## (.+)$", plan, re.M) == PARTS
    if name in BY_KEY:
        lesson = BY_KEY[name]
        assert plan.startswith(f"# {lesson.title}\n")
        needs = re.search(r"\*\*You need\.\*\* (.+)", plan)[1]
        for needed in lesson.after:
            title = BY_KEY[needed].title
            assert title in needs or "hour on everything" in needs, f"{name} needs {title}"
    at = 0
    for begin, end, _, _ in ROW.findall(plan):
        assert int(begin) == at < int(end)
        at = int(end)
    assert at == LENGTHS.get(name, 45)
    assert len(ROW.findall(plan)) == len(re.findall(r"^\| \d", plan, re.M))
    commands = re.findall(r"`python -m llmviz (.+?)`", plan)
    assert commands
    for command in commands:
        assert parser().parse_args(command.split()).lesson in BY_KEY


@pytest.mark.parametrize("name", PLANS)
def test_each_link_of_a_plan_names_its_chapter_and_its_controls(name):
    links = LINK.findall(PLANS[name])
    assert len(links) > 5
    for label, link in links:
        place = place_of(link)
        lesson = BY_KEY[place.lesson]
        title = lesson.title_of(place.chapter) if place.chapter else lesson.title
        assert bool(place.chapter) == bool(lesson.names), link
        shared = {one.key: one for one in lesson.params() if one.key in OF_NO_CHAPTER}
        own = {one.key: one for one in controls_of(lesson, place.chapter)}
        said = [title]
        for key, written in place.controls:
            control = (own | shared)[key]
            value = control.read(written)
            assert value != control.default and control.write(value) == written, link
            if key in own and key != "text":
                said.append(f"{key} = {written}")
        assert label == ", ".join(said)


@pytest.mark.parametrize("name", PLANS)
def test_a_plan_asks_what_its_chapters_ask_today_and_has_their_answers(name):
    plan = PLANS[name]
    found = list(ASKED.finditer(plan))
    assert len(found) == plan.count("\n> ") == plan.count("*Why:*") >= 2
    ends = plan.index("## Before you leave")
    assert plan.index("## Predict") < found[0].start() < plan.index("## What pupils")
    assert found[-1].start() > ends
    cells = "".join(opens for *_, opens in ROW.findall(plan))
    opened = [place_of(link)[:2] for _, link in LINK.findall(cells)]
    for match in found:
        place = place_of(match["link"])
        blocks = [block(one.question) for one in asked(place)]
        written = match[0].partition("\n\n")[2]
        assert written in blocks, f"{place} asks now:\n\n" + "\n\n".join(blocks)
        assert place[:2] in opened, f"no minutes for {place}"


@pytest.mark.parametrize("name", [*PLANS, "README"])
def test_sentences_of_a_plan_are_short(name):
    text = ASKED.sub("", {**PLANS, "README": INDEX}[name])
    text = LINK.sub(r"\1", re.sub(r"```.*?```", "", text, flags=re.S))
    for line in text.splitlines():
        for cell in line.split("|"):
            for sentence in re.split(r"(?<=[.?!:])[”*]*\s", cell):
                assert len(sentence.split()) <= 25, sentence
