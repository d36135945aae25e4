"""A learner's reward: its parts, what it refuses, and the bundled runs."""

from __future__ import annotations

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llmviz.course.lessons.reasoning.reward_hacking import model as own
from llmviz.course.lessons.reasoning.reward_hacking.model import OwnReward
from llmviz.course.lessons.reasoning.sum_texts import LONGEST, TOKENS, is_right

NUMBERS = (47, 85)
TEXT = st.text(st.sampled_from(TOKENS), max_size=LONGEST)
WEIGHT = st.integers(-4, 4).map(lambda quarters: quarters / 4)


@given(TEXT, WEIGHT, WEIGHT, WEIGHT, WEIGHT)
def test_a_reward_is_the_sum_of_what_its_parts_find(text, right, short, word, form):
    reward = OwnReward(right, short, word, form, "12", r"\d*:\d*;")
    wanted = (
        right * is_right(NUMBERS, text)
        + short * (LONGEST - len(text)) / LONGEST
        + word * ("12" in text)
        + form * bool(re.fullmatch(r"[0-9]*:[0-9]*;", text))
    )
    assert reward.of(NUMBERS, text) == pytest.approx(wanted)


def test_empty_fields_pay_nothing():
    reward = OwnReward(word=1.0, form=1.0)
    assert reward.of(NUMBERS, ":132;") == reward.of(NUMBERS, "") == 0


@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        ("(", "no regular expression"),
        ("[9-0]", "no regular expression"),
        ("*", "no regular expression"),
        (r"\1", "no regular expression"),
        ("a{99999999}", "at most 1000 times"),
        ("((a{100}){100}){100}", "at most 1000 times"),
        ("(a{,2000})", "at most 1000 times"),
        ("a{ 2 , 2000 }", "at most 1000 times"),
        ("1" * (own.MOST_PATTERN + 1), "at most 60 characters"),
    ],
)
def test_broken_and_huge_expressions_are_refused(pattern, said):
    with pytest.raises(ValueError, match=said):
        OwnReward(form=1.0, pattern=pattern)


def test_an_expression_that_does_not_end_is_stopped():
    reward = OwnReward(form=1.0, pattern=r"(?:\d|\d\d|\d\d\d)+[+=]")
    with pytest.raises(ValueError, match=r"longer than 0\.05 seconds"):
        reward.of(NUMBERS, "1" * 5000 + ";")


@pytest.mark.parametrize("weight", [1.5, -2, float("nan"), float("inf")])
def test_weights_out_of_range_are_refused(weight):
    with pytest.raises(ValueError, match="from −1 to 1"):
        OwnReward(right=weight)


def test_a_run_tells_the_reward_and_the_goal_apart():
    found = list(own.own_run(OwnReward(short=1.0), 0.0, 2))
    assert [one.step for one in found] == [1, 2]
    for one in found:
        assert one.reward == pytest.approx(1 - one.length / LONGEST)
        assert 0 < one.right < 1
        assert all(text.endswith("=") for text, *_ in one.texts)
    assert found[0].divergence == pytest.approx(0, abs=1e-6)


def test_a_constant_reward_teaches_nothing():
    found = list(own.own_run(OwnReward(), 0.0, 2))
    assert [(one.reward, one.flat) for one in found] == [(0.0, 1.0)] * 2
    assert found[-1].divergence == pytest.approx(0, abs=1e-6)
    assert all(math.isfinite(one.right) for one in found)


def test_the_bundled_results_hold_what_the_chapter_says_of_them():
    runs = own.recorded()
    for beta, some in runs.items():
        assert [one.seed for one in some] == list(own.SEEDS)
        for one in some:
            assert one.beta == beta
            lengths = {len(one.reward), len(one.right), len(one.divergence)}
            assert lengths == {own.UPDATES}
            assert one.divergence[0] == pytest.approx(0, abs=1e-4)
    for one in runs[0.0]:
        assert one.last("reward") > one.reward[0] + 0.3
