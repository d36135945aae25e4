"""The chapter "A tool that computes": what its sentences say at any setting, what it refuses."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llmviz.course.lessons.reasoning.tools import TASKS, chapter, turns
from llmviz.course.lessons.reasoning.tools import tool_loop as loop
from llmviz.course.lessons.reasoning.tools import tool_record as record
from llmviz.course.lessons.reasoning.tools import tool_texts as texts
from llmviz.course.lessons.reasoning.tools.tool_loop import Call, Run


def plain(text: str) -> str:
    return " ".join(text.split())


def run_with(answer: str | None, *results: str, reason: str = loop.FINISHED) -> Run:
    written, calls = [], []
    for result in results:
        call = (texts.CALL, *texts.characters("1+1"), texts.RESULT)
        written += [(loop.MODEL, call), (loop.TOOL, tuple(texts.characters(result)))]
        calls.append(Call("1+1", result))
    last = () if answer is None else (texts.ANSWER, *texts.characters(answer))
    written.append((loop.MODEL, (*last, texts.END)))
    return Run(tuple(texts.encode("1 add 1=")), tuple(written), tuple(calls), reason)


ANSWER = st.none() | st.integers(-20, 20).map(str) | st.sampled_from(["?", "", "no number"])


@settings(max_examples=60)
@given(ANSWER, st.lists(st.sampled_from(["2", "3", "no number", ""]), max_size=3))
def test_the_sentence_on_an_answer_is_true(answer, results):
    run, question = run_with(answer, *results), texts.question_of("1+1")
    said = plain(turns.answer_read(run, question))
    assert ("which is right" in said) == (answer == "2")
    assert ("gives no answer" in said) == (answer is None)
    copied = answer not in (None, "2") and bool(results) and answer == results[-1]
    assert ("the last result that it got" in said) == copied
    assert ("as its answer" in said) == (answer == "?" and not copied)


def test_a_question_without_a_value_has_no_right_answer():
    question = texts.question_of("1 over 0")
    said = plain(turns.answer_read(run_with("7", "error division by zero"), question))
    assert "not defined as a whole number" in said
    assert "which is right" not in said


@pytest.mark.parametrize("task", TASKS)
def test_the_line_is_asked_for_where_it_leaves_what_two_mistaken_people_would_draw(task):
    shares = []
    for digits in record.DIGITS:
        found = [model.right[task][digits] for model in record.recorded()[texts.TOOL]]
        shares.append(sum(one.right for one in found) / sum(one.count for one in found))
    asked = chapter.question(task)
    last, behind = shares[texts.TRAINED - 1], shares[texts.TRAINED :]
    near = sum(abs(last - one) for one in behind) / len(behind) < chapter.APART
    assert asked is not None or near or last < 3 * chapter.APART
    if asked is not None:
        assert asked.values[asked.right] == tuple(behind)
        assert asked.values[0] == (last,) * len(behind)
        assert list(asked.values[1]) == sorted(asked.values[1], reverse=True)
    inside, outside = (chapter.right(task, texts.TRAINED + more) for more in (0, 1))
    falls = outside.interval[1] < inside.interval[0]
    said = plain(chapter.digits_read(task))
    assert ("wrong copy" in said) == falls
    assert ("not a single" in said) == (outside.right == 0 and (falls or inside.right == 0))


def test_no_wrong_copy_and_no_other_cause_have_words_of_their_own():
    for wrong, call, copy in itertools.product(range(1, 4), range(4), range(4)):
        if call + copy <= wrong:
            said = plain(chapter.wrong_read(wrong, call, copy))
            assert said.startswith("All of the wrong ones") == (call == wrong)
            assert ("none from a wrong copy" in said) == (copy == 0)


def test_each_row_of_chips_is_a_turn_and_says_who_wrote_it():
    given_ = (texts.question_of("37 add 85"), texts.TOOL, loop.OFF, "")
    run, rows = turns.run_of(given_), turns.rows_of(given_)
    assert len(rows) == 1 + len(run.turns)
    for row, (who, ids) in zip(rows[1:], run.turns, strict=True):
        assert [one.id for one in row.tokens] == list(ids)
        assert ("the model writes" in row.name) == (who == loop.MODEL)
        assert (row.values is None) == (who == loop.TOOL)
        assert row.values is None or all(0 <= one <= 1 for one in row.values)
