"""The chapter "Rewards that are gamed": what its sentences say at any setting, what it refuses."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from llmviz.course.lessons.reasoning.reward_hacking import chapter
from llmviz.course.lessons.reasoning.reward_hacking import model as own
from llmviz.course.lessons.reasoning.reward_hacking.model import Gamed, OwnReward
from tests.pages.finished_job import FakeJob
from tests.pages.harness import fine, open_part, prose_of

SHARE = st.floats(0, 1)


@given(st.lists(st.tuples(st.floats(-2, 2), SHARE), min_size=2, max_size=30))
def test_a_run_is_told_as_it_is(numbers):
    found = [
        Gamed(at, paid, right, 0.1, 6.0, 0.0, 1.0) for at, (paid, right) in enumerate(numbers, 1)
    ]
    said = " ".join(chapter.live_end(found).split())
    tenth = max(1, len(found) // 10)
    paid, goal = (
        [np.mean(part) for part in (values[:tenth], values[-tenth:])]
        for values in zip(*numbers, strict=True)
    )
    assert ("did not rise" in said) == (paid[1] <= paid[0])
    assert ("for something else than right answers" in said) == (
        paid[1] > paid[0] and goal[1] < goal[0]
    )
    first, second = chapter.run_figures(FakeJob(found), len(found), "light")
    assert [list(line.y) for line in first.data] == [
        list(one) for one in zip(*numbers, strict=True)
    ]
    assert list(second.data[0].y) == [0.1] * len(found)


def test_rows_say_which_texts_are_right():
    last = Gamed(1, 0, 0, 0, 6.0, 0, 1, (("47+85=", ":132;", 0.5), ("47+85=", ":122;", -1.0)))
    assert chapter.text_rows(last) == [(":132;", "0.50", "yes"), (":122;", "−1.00", "no")]


def test_the_record_is_told_within_its_error():
    free, held = ([run.last("right") for run in own.recorded()[beta]] for beta in (0.0, 1.0))
    error = np.hypot(np.std(free, ddof=1), np.std(held, ddof=1)) / 3**0.5
    told = "larger than two" in " ".join(chapter.record_read().split())
    assert told == (abs(np.mean(held) - np.mean(free)) > 2 * error)
    asked = chapter.goal_question()
    change = np.mean(free) - chapter.begun()
    words = "about the same" if abs(change) < chapter.SAME else "up" if change > 0 else "down"
    assert words in asked.answers[asked.right]


@pytest.mark.parametrize(
    ("chosen", "refused", "said"),
    [
        ({}, "", ""),
        ({"paypattern": "("}, "no regular expression", ""),
        ({"paypattern": "((a{100}){100}){100}"}, "at most 1000 times", ""),
        ({"payform": "0"}, "", "nothing is learned"),
        ({"payright": "-1", "payword": "0.25", "payholds": "<b>", "payform": "0"}, "", ""),
    ],
)
def test_the_page_shows_any_reward_or_refuses_it(chosen, refused, said):
    page = open_part("reasoning", "reward_hacking", show="1", **chosen)
    fine(page)
    errors = " ".join(one.value for one in page.error)
    assert (refused in errors) if refused else not errors
    assert said in prose_of(page)
    assert "The model did what was paid" in prose_of(page)
    assert ("nothing is learned" in prose_of(page)) == bool(said)


def test_a_run_whose_expression_took_too_long_is_refused(monkeypatch):
    problem = "the expression took longer than 0.05 seconds with '1'"
    failed = FakeJob([], "failed", problem)
    monkeypatch.setattr(chapter.kit.training_jobs(), "start", lambda *_, **__: failed)
    reward = OwnReward(form=1.0, pattern=own.PATTERN)
    chapter.job_of.forget(reward, "0", 40)
    page = open_part("reasoning", "reward_hacking", show="1", payrun="1")
    chapter.job_of.forget(reward, "0", 40)
    fine(page)
    assert any("took longer" in one.value for one in page.error)


def test_a_copy_without_the_bundled_runs_names_the_commands(monkeypatch):
    def missing(*_: object) -> None:
        raise ValueError("no")

    monkeypatch.setattr(chapter, "recorded", missing)
    page = open_part("reasoning", "reward_hacking")
    fine(page)
    assert any(own.COMMAND in one.value for one in page.code)
