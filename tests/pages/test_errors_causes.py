"""The chapter "Find the cause": every case has its texts, and answers are counted."""

from __future__ import annotations

import pytest

from llmviz.course.lessons.errors.causes import words
from llmviz.course.lessons.errors.causes.case_evidence import HEADS, head_of
from llmviz.course.lessons.errors.causes.chapter import question, seen, stem
from llmviz.course.lessons.errors.causes.wrong_answers import CAUSES, cases, ten_cases
from llmviz.course.ui.common import percent
from tests.pages.harness import fine, fine_part, prose_of, unpack_all


@pytest.mark.parametrize("cause", CAUSES)
def test_each_case_has_a_question_with_a_reason_for_each_answer(cause):
    for case in cases()[cause]:
        asked = question(case, 1)
        assert len(asked.answers) == 4
        assert "{" not in "".join((stem(case), *asked.reasons))
        assert asked.reasons[asked.right] not in stem(case)


@pytest.mark.parametrize("cause", HEADS)
def test_the_evidence_names_the_tokens_and_the_head(cause):
    at = next(at for at, case in enumerate(ten_cases(2), 1) if case.cause == cause)
    page = fine_part("errors", "causes", casefile="2", case=str(at), show="1")
    found = head_of(ten_cases(2)[at - 1])
    assert f"layer {found.layer}, head {found.head}" in prose_of(page)
    labels = str([sent["rows"] for sent in unpack_all(page, "case_rows")])
    assert (" | " in labels) == (cause == HEADS[0])
    assert words.passes["moved"] in labels


@pytest.mark.parametrize("cause", CAUSES)
def test_each_case_is_drawn_with_what_its_text_says(cause):
    for case in cases()[cause]:
        rows, said = seen(case), stem(case)
        assert rows and all(0 <= row.value <= 1 for row in rows)
        if cause == "tested":
            assert [percent(row.value) in said for row in rows] == [True, True]
        if cause in ("greedy", "dice"):
            assert case.named["said"] in rows[0].label
        if cause in ("never", "declines"):
            assert max(row.value for row in rows) == rows[0].value


def test_answers_are_counted_over_the_file():
    page = fine_part("errors", "causes", casefile="3")
    assert "0 of 0 causes found, 10 cases to go" in prose_of(page)
    asked = question(ten_cases(3)[0], 3)
    page.radio[0].set_value(asked.right).run()
    fine(page)
    assert "1 of 1 causes found, 9 cases to go" in prose_of(page)
    assert "What you have seen" in "".join(one.value for one in page.subheader)
