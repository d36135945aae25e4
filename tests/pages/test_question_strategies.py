"""Nobody who knows nothing gets far with our questions: strategies that look at form alone."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from urllib.parse import parse_qsl

import pytest

from llmviz.course.lessons import LESSONS
from tests.pages.asked import Asked, OnAxis, answered, in_lists, noting
from tests.pages.harness import ROOT, fine, open_part

MOST = 0.10  # above chance, over all questions
NUMBER = re.compile(r"[−-]?\d[\d,]*(?:\.\d+)?")
CONDITION = re.compile(r"\b(if|unless|only|when|because|but|usually|often|mostly|some)\b")
ABSOLUTE = re.compile(r"\b(never|always|all|none|nothing|every|no)\b", re.I)


Pick = Callable[[Asked], int | None]


def number(answer: str) -> float | None:
    found = NUMBER.search(answer)
    return float(found[0].replace(",", "").replace("−", "-")) if found else None


def decimals(answer: str) -> float | None:
    found = NUMBER.search(answer)
    return len(found[0].partition(".")[2]) if found else None


def shared(asked: Asked) -> Callable[[str], float]:
    known = set(re.findall(r"\w{4,}", asked.text.lower()))
    return lambda answer: len(known & set(re.findall(r"\w{4,}", answer.lower())))


def extreme(measure: Callable[[str], float | None], choose: Callable = max) -> Pick:
    """The one answer with the largest, or smallest, measure."""

    def pick(asked: Asked) -> int | None:
        found = [measure(answer) for answer in asked.answers]
        if None in found or found.count(choose(found)) > 1:
            return None
        return found.index(choose(found))

    return pick


def middle(asked: Asked) -> int | None:
    """The middle one of three numbers or more; of an even count one of the two, in turn."""
    found = [number(answer) for answer in asked.answers]
    if None in found or len(found) < 3 or len(set(found)) < len(found):
        return None
    order = sorted(range(len(found)), key=found.__getitem__)
    return order[(len(order) - len(asked.text) % 2 * (len(order) % 2 == 0)) // 2]


def odd_precision(asked: Asked) -> int | None:
    found = [decimals(answer) for answer in asked.answers]
    alone = [at for at, one in enumerate(found) if found.count(one) == 1]
    return alone[0] if None not in found and len(alone) == 1 and len(found) > 2 else None


def alone(pattern: re.Pattern[str], *, wanted: bool) -> Pick:
    """The only answer with a word, or the only one without."""

    def pick(asked: Asked) -> int | None:
        found = [bool(pattern.search(answer)) for answer in asked.answers]
        return found.index(wanted) if found.count(wanted) == 1 else None

    return pick


STRATEGIES: dict[str, Pick] = {
    "the odd precision": odd_precision,
    "the longest": extreme(len),
    "the shortest": extreme(len, min),
    "the largest": extreme(number),
    "the smallest": extreme(number, min),
    "the middle": middle,
    "the most decimals": extreme(decimals),
    "the one with a condition": alone(CONDITION, wanted=True),
    "the one that is not absolute": alone(ABSOLUTE, wanted=False),
    "always the first": lambda asked: 0,
    "always the last": lambda asked: len(asked.answers) - 1,
    "the words of the question": lambda asked: extreme(shared(asked))(asked),
}


State = tuple[str, str, dict[str, str]]  # a lesson, its chapter, and what a link says of it
LOOK = re.compile(r"\(look: ([^){}]+)\)")
OLD_LINKS = Path(__file__).with_name("old_links.txt")


def other_states() -> Iterator[State]:
    """The states that the looks of all chapters lead to, and those of older links."""
    for lesson in LESSONS:
        for chapter in lesson.chapters:
            path = ROOT / chapter.package.replace(".", "/") / "chapter.md"
            for look in LOOK.findall(path.read_text("utf-8")):
                yield lesson.key, chapter.key, dict(parse_qsl(look))
    for link in OLD_LINKS.read_text("utf-8").split():
        page, _, query = link.partition("?")
        state = dict(parse_qsl(query))
        if "show" not in state and len(state) > 1 and "part" in state:
            yield page, state.pop("part"), state


def asked_in(states: Iterable[State]) -> list[Asked]:
    """The questions whose answers stand in a list of these pages."""
    every: list[Asked] = []
    for lesson, chapter, state in states:
        with noting() as noted:
            app = open_part(lesson, chapter, **state)
        fine(app)
        every += in_lists(app, noted)
    return each_once(every)


def each_once(asked: Iterable[Asked]) -> list[Asked]:
    return list({(each.text, *each.answers): each for each in asked}.values())


@pytest.fixture(scope="module")
def questions() -> list[Asked]:
    """Those of all chapters at their defaults."""
    chapters = [(lesson.key, chapter.key) for lesson in LESSONS for chapter in lesson.chapters]
    return each_once(asked for chapter in chapters for asked in answered(*chapter).in_lists)


def test_many_questions_are_asked(questions):
    assert len(questions) > 15  # in lists; the others are answered on a picture


@pytest.mark.parametrize("name", STRATEGIES)
def test_who_knows_nothing_is_right_by_chance(name, questions):
    assert above_chance(name, questions) <= most(questions)


@pytest.fixture(scope="module")
def handles() -> list[OnAxis]:
    """The handles of all chapters at their defaults."""
    chapters = [(lesson.key, chapter.key) for lesson in LESSONS for chapter in lesson.chapters]
    every = [handle for chapter in chapters for handle in answered(*chapter).on_axes]
    return list({handle.question.text: handle for handle in every}.values())


def test_two_answers_of_a_handle_are_told_apart_and_it_begins_at_none(handles):
    assert len(handles) > 30
    for handle in handles:
        places = sorted(share(handle, value) for (value,) in handle.question.values)
        assert min(b - a for a, b in pairwise(places)) > 0.01, handle.question.text
        (right,) = handle.question.values[handle.question.right]
        assert abs(share(handle, handle.begin) - share(handle, right)) > 0.09, handle.question.text


def test_no_handle_is_right_wherever_it_is_set(handles):
    for handle in handles:
        at = sorted(share(handle, value) for (value,) in handle.question.values)
        ends = [-at[0], *at, 2 - at[-1]]
        here = at.index(share(handle, *handle.question.values[handle.question.right]))
        assert ends[here + 2] - ends[here] <= 1, handle.question.text  # half of the axis


def share(handle: OnAxis, value: float) -> float:
    """Where a value lies on the axis, from its low end to its high end."""
    by = math.log if handle.log else float
    low, high = by(handle.low), by(handle.high)
    return (by(min(max(value, handle.low), handle.high)) - low) / (high - low)


PLACES: dict[str, Callable[[OnAxis], float]] = {
    "the low end": lambda handle: 0,
    "the middle": lambda handle: 0.5,
    "the high end": lambda handle: 1,
    "where the handle is": lambda handle: share(handle, handle.begin),
    "far from where the handle is": lambda handle: 1 - share(handle, handle.begin),
}


@pytest.mark.parametrize("name", PLACES)
def test_a_handle_set_without_knowing_is_right_by_chance(name, handles):
    right, shares = 0, []
    for handle in handles:
        at = PLACES[name](handle)
        gaps = [abs(share(handle, value) - at) for (value,) in handle.question.values]
        right += gaps.index(min(gaps)) == handle.question.right
        shares.append(1 / len(gaps))
    assert (right - sum(shares)) / len(handles) <= luck(shares), (right, sum(shares))


def most(questions: Sequence[Asked]) -> float:
    """How far above chance a strategy may be: of few questions, two standard errors of luck."""
    return luck([1 / len(asked.answers) for asked in questions])


def luck(shares: Sequence[float]) -> float:
    """The same, from the chance of each question."""
    return max(MOST, 2 * sum(p * (1 - p) for p in shares) ** 0.5 / len(shares))


@pytest.mark.slow
def test_nor_is_anybody_in_other_states_than_the_first():
    asked = asked_in(other_states())
    assert len(asked) > 30  # in lists; the others are answered on a picture
    above = {name: above_chance(name, asked) for name in STRATEGIES}
    assert {name: far for name, far in above.items() if far > most(asked)} == {}


def above_chance(name: str, questions: Sequence[Asked]) -> float:
    """How far a strategy is above chance; where it says nothing about a question, it guesses."""
    pick, right = STRATEGIES[name], 0.0
    for asked in questions:
        chosen = pick(asked)
        right += 1 / len(asked.answers) if chosen is None else float(chosen == asked.right)
    chance = sum(1 / len(asked.answers) for asked in questions)
    return (right - chance) / len(questions)
