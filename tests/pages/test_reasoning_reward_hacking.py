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
from tests.pages.harness import fine, open_part

SHARE = st.floats(0, 1)
PAIRS = ((47, 85), (12, 34), (50, 50), (49, 50), (10, 10), (99, 99))


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
    assert ("paid for something else" in said) == (paid[1] > paid[0] and goal[1] < goal[0])
    drawn = chapter.live_lines(found)
    assert [tuple(line.y) for line in drawn] == [*zip(*numbers, strict=True)]


def test_the_right_ones_of_the_texts_are_lit_beside_their_pay():
    last = Gamed(1, 0, 0, 0, 6.0, 0, 1, (("47+85=", ":132;", 0.5), ("47+85=", ":122;", -1.0)))
    cases = chapter.text_cases(last)
    assert [(case.label, case.value) for case in cases] == [
        ([(":132;", True)], 0.5),
        ([(":122;", False)], -1.0),
    ]


def test_the_record_is_told_within_its_error():
    free, held = ([run.last("right") for run in own.recorded()[beta]] for beta in (0.0, 1.0))
    error = np.hypot(np.std(free, ddof=1), np.std(held, ddof=1)) / 3**0.5
    told = "more answers stay right" in " ".join(chapter.record_read().split())
    assert told == (np.mean(held) - np.mean(free) > 2.776 * error)  # Student's t of 4 degrees


def test_a_penalty_that_makes_it_worse_or_no_difference_is_told_as_that(monkeypatch):
    for held, said in (
        ([0.9, 0.8, 0.85], "more"),
        ([0.1, 0.11, 0.1], "fewer"),
        ([0.5, 0.2, 0.9], "luck"),
    ):
        ends = {0.0: np.array([0.4, 0.42, 0.41]), own.BETAS[-1]: np.array(held)}
        monkeypatch.setattr(chapter, "ended", lambda beta, what, ends=ends: ends[beta])
        line = " ".join(chapter.record_read().split())
        assert {
            "more": "more answers stay right",
            "fewer": "fewer answers",
            "luck": "luck could have",
        }[said] in line


@pytest.mark.parametrize("beta", own.BETAS)
def test_right_answers_are_drawn_as_measured_beside_two_beliefs_or_shown_at_once(beta):
    runs = own.recorded()[beta]
    paid, right = (
        np.mean([[getattr(run, name)[at - 1] for at in chapter.PLACES] for run in runs], 0)
        for name in ("reward", "right")
    )
    beliefs = np.minimum(1, right[0] + paid[1:] - paid[0]), np.full(len(right) - 1, right[0])
    apart = min(np.abs(line - right[1:]).mean() for line in beliefs)
    asked = chapter.goal_question(beta)
    assert (asked is None) == (apart < chapter.APART)
    if asked:
        np.testing.assert_allclose(asked.values[asked.right], right[1:])
        np.testing.assert_allclose(asked.values[:2], beliefs)


def test_a_sum_of_three_digits_can_be_paid_and_right():
    reward = OwnReward(right=1.0, form=1.0, pattern=own.PATTERN)
    best = [max(reward.of(pair, f"12,3:{sum(pair):0{n}};") for n in (2, 3)) for pair in PAIRS]
    assert [paid == 2 for paid in best] == [sum(pair) >= 100 for pair in PAIRS]
    assert 0 < chapter.possible() < 1


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
