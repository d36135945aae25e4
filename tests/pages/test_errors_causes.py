"""The chapter "Find the cause": every case has its texts, and answers are counted."""

from __future__ import annotations

import pytest

from llmviz.lessons.errors.causes.chapter import question
from llmviz.study.wrong_answers import CAUSES, cases, ten_cases
from tests.pages.harness import fine, open_part, prose_of


@pytest.mark.parametrize("cause", CAUSES)
def test_each_case_has_a_question_with_a_reason_for_each_answer(cause):
    for case in cases()[cause]:
        asked = question(case, 1)
        assert len(asked.answers) == 4
        assert "{" not in "".join((asked.text, *asked.reasons))
        assert asked.reasons[asked.right] not in asked.text


def test_answers_are_counted_over_the_file():
    page = open_part("errors", "causes", casefile="3")
    assert "0 of 0 causes found, 10 cases to go" in prose_of(page)
    asked = question(ten_cases(3)[0], 3)
    page.radio[0].set_value(asked.right).run()
    fine(page)
    assert "1 of 1 causes found, 9 cases to go" in prose_of(page)
    assert "What you have seen" in "".join(one.value for one in page.subheader)
