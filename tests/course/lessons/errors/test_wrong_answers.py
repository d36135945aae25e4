"""Cases: each is what its cause says, and ten of them are never the same."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llmviz.course.lessons.errors.causes import wrong_answers


def test_every_cause_has_cases_and_there_are_many():
    known = wrong_answers.cases()
    assert set(known) == set(wrong_answers.CAUSES)
    assert all(known.values())
    assert sum(map(len, known.values())) > 300


@given(st.integers(1, 9_999))
def test_ten_cases_are_different_and_have_every_cause(seed):
    file = wrong_answers.ten_cases(seed)
    assert len(set(file)) == len(file) == wrong_answers.TEN
    assert sorted(case.cause for case in file) == sorted(wrong_answers.CAUSES), (
        "each for another reason"
    )
    assert file == wrong_answers.ten_cases(seed)
    for case in file:
        causes = wrong_answers.offered(case, seed)
        assert case.cause in causes
        assert len(set(causes)) == len(causes) == wrong_answers.OFFERED + 1


def test_files_differ():
    assert len({tuple(wrong_answers.ten_cases(seed)) for seed in range(200)}) == 200


@pytest.mark.parametrize("cause", wrong_answers.CAUSES)
def test_a_case_is_what_its_cause_says(cause):
    for case in wrong_answers.cases()[cause]:
        named = case.named
        if cause in ("never", "rare"):
            assert named["said"] not in (named["town"], "nobody")
            assert (named["times"] == 0) == (cause == "never")
        elif cause == "heart":
            assert named["loss"] < named["unread"] / 4
        elif cause in ("greedy", "dice"):
            assert (named["share"] > 0.5) == (named["said"] == "she") == (named["women"] > 0.5)
            assert named["said"] != named["other"]
        elif cause == "unsaid":
            assert (named["women"] > 0.5) != (named["said"] == "she")
        elif cause == "tested":
            assert named["read"] > named["other"]
        elif cause == "declines":
            assert named["said"] == named["town"] and named["times"] > 0
        else:
            assert named["said"] != named["right"] and named["confidence"] > 0
