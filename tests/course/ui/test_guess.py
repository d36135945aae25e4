"""A guess on the picture: which answer it is, what is held back until then, what is refused."""

from __future__ import annotations

import math

import numpy as np
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from llmviz.course.components._shared.transport import collected, unpack
from llmviz.course.components.case_rows.view import Axis, Case, rows_payload
from llmviz.course.components.draw_on.view import Drawn, Hand, Scale, lines_payload
from llmviz.course.ui import question
from llmviz.course.ui.guess import guess_cases, guess_line
from llmviz.course.ui.question import Question, answered, graded, guess_of, settle
from tests.pages.harness import sent

RIGHT, WRONG = 37_245.0, 282e9


@pytest.fixture(autouse=True)
def session(monkeypatch):
    """A visitor of their own, from whom the pictures hold back what is asked."""
    monkeypatch.setattr(st, "session_state", {})
    monkeypatch.setattr(question, "COVERS", True)


def numbers(*values):
    return Question.among("How many?", {value: f"why {value}" for value in values}, values[0], str)


def test_a_guess_is_the_answer_that_it_is_nearest_to():
    values = np.random.default_rng(0).uniform(0.1, 1, (200, 4))
    for n, (guess, *answers) in enumerate(values.tolist()):
        asked = numbers(*answers)
        settle(asked, f"k{n}", [guess])
        gaps = [abs(guess - answer) for answer in answers]
        assert graded(asked, f"k{n}") == (gaps[0] == min(gaps))
        assert answered(asked, f"k{n}") and guess_of(asked, f"k{n}") == [guess]


def test_by_powers_ten_times_too_much_is_as_far_as_ten_times_too_little():
    asked = numbers(RIGHT, WRONG)
    middle = math.sqrt(RIGHT * WRONG)
    for n, guess in enumerate((middle / 1.01, middle * 1.01)):
        settle(asked, f"k{n}", [guess], log=True)
        assert graded(asked, f"k{n}") == (guess < middle)
    settle(asked, "plain", [middle * 1.01])
    assert graded(asked, "plain")


def test_a_guess_between_two_answers_counts_as_the_right_one():
    asked = numbers(0.6, 0.4)
    settle(asked, "k", [0.5])
    assert graded(asked, "k")


@pytest.mark.parametrize(
    "guess", [None, [], [1.0, 2.0], ["1"], "1", {"at": 1}, [0], [math.inf], [math.nan], [10**400]]
)
def test_what_is_no_guess_is_passed_over(guess):
    asked = numbers(RIGHT, WRONG)
    settle(asked, "k", guess, log=True)
    assert graded(asked, "k") is None and not answered(asked, "k")


def cases_sent(asked):
    cases = [Case("known", 0.2), Case("asked", 0.47, interval=(0.4, 0.5), dots=[0.46])]
    with collected() as pictures:
        guess_cases(cases, Axis(0, 1), asked, "k", veiled=[1], picture="p")
    return unpack(pictures[0].message[: pictures[0].message.rindex(b'{"key"')])["rows"]


def test_what_is_asked_for_does_not_travel_before_the_guess():
    asked = numbers(0.47, 0.7, 0.95)
    known, veiled = cases_sent(asked)
    assert known["value"] == 0.2
    assert (veiled["value"], veiled["interval"], veiled["dots"]) == (None, None, [])
    settle(asked, "k", [0.9])
    told = cases_sent(asked)[1]
    assert told["value"] == 0.47 and told["guess"] == 0.9 and sorted(told["ghosts"]) == [0.7, 0.95]
    assert cases_sent(None)[1]["value"] == 0.47  # nothing is asked


def lines_sent(asked, known=2):
    whole = Drawn("loss", [0, 1, 2, 3], [3.0, 2.0, 1.8, 2.4])
    ghosts = [Drawn("down", [2, 3], [1.5, 1.0], dashed=True)]
    scales = Scale(0, 3, "back"), Scale(0, 4, "loss")
    with collected() as pictures:
        look = {"known": known, "picture": "p", "ghosts": ghosts}
        guess_line([], whole, *scales, asked, "k", **look)
    return unpack(pictures[0].message[: pictures[0].message.rindex(b'{"key"')])


def test_a_line_ends_where_the_question_begins():
    values = [(1.8, 2.4), (1.5, 1.0)]
    asked = Question("How on?", ["up", "down"], 0, ["so", "no"], values=values)
    before = lines_sent(asked)
    assert before["asked"]["x"] == [2, 3] and [line["y"] for line in before["lines"]] == [[3, 2]]
    settle(asked, "k", [1.5, 1.2])
    after = lines_sent(asked)
    assert graded(asked, "k") is False and after["asked"]["x"] == []
    assert after["lines"][0]["y"] == [3, 2, 1.8, 2.4] and len(after["lines"]) == 2
    assert after["own"] == {"x": [2, 3], "y": [1.5, 1.2]}


@pytest.mark.parametrize(
    ("cases", "axis", "rule"),
    [
        ([Case("a", math.nan)], Axis(0, 1), "not finite"),
        ([Case("a", 0.5, dots=[math.inf])], Axis(0, 1), "not finite"),
        ([Case("a", 0.5)], Axis(1, 1), "must go up"),
        ([Case("a", 0.5)], Axis(0, 1, log=True), "begins above 0"),
    ],
)
def test_lines_of_cases_are_numbers_on_an_axis(cases, axis, rule):
    with pytest.raises(ValueError, match=rule):
        rows_payload(cases, axis, "percent", "bar", [])


@pytest.mark.parametrize(
    ("line", "scale", "hand", "rule"),
    [
        (Drawn("a", [0, 1], [1.0]), Scale(0, 1, ""), Hand(), "a finite y for each x"),
        (Drawn("a", [0], [math.nan]), Scale(0, 1, ""), Hand(), "a finite y for each x"),
        (Drawn("a", [0], [0.0]), Scale(1, 0, ""), Hand(), "must go up"),
        (Drawn("a", [0], [0.0]), Scale(0, 1, ""), Hand([0], [math.inf]), "a hand.*finite y"),
        (Drawn("a", [0], [0.0]), Scale(0, 1, ""), Hand([0], None, [[1, 2]]), "a hand.*finite y"),
        (Drawn("a", [0], [0.0]), Scale(0, 1, ""), Hand([math.nan]), "a hand.*finite y"),
    ],
)
def test_lines_are_points_on_two_axes(line, scale, hand, rule):
    with pytest.raises(ValueError, match=rule):
        lines_payload([line], scale, Scale(0, 1, ""), hand)


def test_heights_by_powers_are_above_nothing_and_travel_as_they_are():
    powers = Scale(1, 1e6, "", log=True)
    sent_lines = lines_payload([Drawn("a", [0, 1], [2, 2e5])], Scale(0, 1, ""), powers, Hand())
    assert sent_lines["lines"][0]["y"] == [2, 2e5] and sent_lines["axes"]["y"]["log"]
    with pytest.raises(ValueError, match="above 0"):
        lines_payload([Drawn("a", [0], [0.0])], Scale(0, 1, ""), powers, Hand())


@pytest.mark.parametrize(("low", "high"), [(1, 10), (1e3, 1e12), (1e-3, 1), (5, 1e15)])
def test_an_axis_by_powers_is_marked_within_it(low, high):
    marks = Axis(low, high, log=True).marks("count")
    assert 1 <= len(marks) <= 10 and all(low <= value <= high for value, _ in marks)
    assert len({text for _, text in marks}) == len(marks)


def page():
    from llmviz.course.components.case_rows.view import Axis, Case
    from llmviz.course.ui import kit

    asked = kit.Question.among("How much?", {0.47: "so", 0.9: "no"}, 0.47, kit.whole_percent)
    kit.guess_cases([Case("asked", 0.47)], Axis(0, 1), asked, "k", veiled=[0], picture="p")
    kit.predict(asked, "k", covers=True, hand=True)


def test_a_page_says_what_was_guessed_and_what_is_right(monkeypatch):
    monkeypatch.undo()
    monkeypatch.setattr(question, "COVERS", True)
    app = AppTest.from_function(page).run()
    assert not app.exception and not app.radio
    assert sent(app, "case_rows")["rows"][0]["value"] is None
    asked = Question.among(
        "How much?", {0.47: "so", 0.9: "no"}, 0.47, lambda x: f"{100 * x:.0f}\u00a0%"
    )
    slot = question._slot(asked, "k")
    app.session_state[slot], app.session_state[f"{slot}.guess"] = 1, [0.8]
    app.run()
    assert sent(app, "case_rows")["rows"][0]["value"] == 0.47
    assert "80" in app.error[0].value and "47" in app.error[0].value
