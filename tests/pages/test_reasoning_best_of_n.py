"""The chapter "More tries": what its sentences say at any setting, and what it refuses."""

from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llmviz.course.lessons.reasoning.best_of_n import chapter
from llmviz.course.lessons.reasoning.best_of_n import model as more
from llmviz.course.lessons.reasoning.sum_texts import is_right, sum_of
from tests.course.lessons.reasoning.test_sum_models import ASKED, TRY


@given(st.lists(TRY, min_size=1, max_size=9))
def test_tries_are_told_as_they_are(tries):
    said = " ".join(chapter.live_read(tries, ASKED).split())
    right = sum(is_right(ASKED, one.text) for one in tries)
    vote, likely = (
        (best := more.chosen(tries, ASKED, way)) is not None and is_right(ASKED, best.text)
        for way in (more.VOTE, more.LIKELY)
    )
    assert ("no way to take one" in said) == (right == 0)
    assert ("All ways" in said) == (vote and likely)
    if right:
        assert ("the vote and the most probable try are wrong" in said) == (not vote and not likely)
        assert ("the vote is wrong" in said) == (likely and not vote)
        assert ("most probable try is wrong" in said) == (vote and not likely)
    cases = chapter.answer_cases(tries, ASKED)
    assert sum(case.value for case in cases) == len(tries)
    assert sum(case.value for case in cases if case.label[0][1]) == right
    taken = chapter.choice_rows(tries, [], ASKED)
    assert [mark == "yes" for *_, mark, _ in taken] == [vote, right > 0, likely, False]
    assert {row[-1] for row in taken[:3]} == {str(sum(len(one.text) for one in tries))}


def test_with_and_without_steps_are_told_apart_only_beyond_the_error():
    tie = chapter.steps_told()[0] == "tie"
    lines = [more.recorded().line(more.VOTE, kind=one) for one in (more.AT_ONCE, more.STEPS)]
    pairs = itertools.product(*lines)
    near = [(a, b) for a, b in pairs if abs(math.log(a.tokens / b.tokens)) < chapter.NEAR]
    one, other = max(near, key=lambda two: two[0].tokens)
    told = abs(one.right - other.right) > 2 * math.hypot(one.error, other.error)
    assert tie != told


@pytest.mark.parametrize(
    ("typed", "numbers"),
    [
        ("47+85", (47, 85)),
        (" 10 + 99 = ", (10, 99)),
        ("9+10", None),
        ("100+10", None),
        ("٤٧+٨٥", None),
        ("47-85", None),
        ("", None),
        ("<b>47+85", None),
        ("1e1+10", None),
    ],
)
def test_a_sum_is_read_or_not_at_all(typed, numbers):
    assert sum_of(typed) == numbers


def test_the_vote_is_asked_for_with_what_was_measured_and_two_beliefs():
    asked = chapter.vote_question()
    carried = chapter.model.recorded().line(chapter.model.VOTE, chapter.model.CARRIED)
    assert asked.values[asked.right] == tuple(point.right for point in carried[1:])
    assert all(0 <= value <= 1 for line in asked.values for value in line)
    assert len({tuple(line) for line in asked.values}) == 3
