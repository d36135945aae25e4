"""Questions: where the right answer stands, how a guess is graded, what is asked of a picture."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
import streamlit as st
from hypothesis import given
from hypothesis import strategies as some
from streamlit.testing.v1 import AppTest

from llmviz.course.components._shared.transport import collected, unpack
from llmviz.course.components.case_rows.view import Axis, Case, rows_payload
from llmviz.course.components.draw_on.view import Drawn, Hand, Scale, lines_payload
from llmviz.course.document import Sentence
from llmviz.course.document.marks import unmarked
from llmviz.course.ui import guess_drawn, guess_given
from llmviz.course.ui.common import near_percent
from llmviz.course.ui.guess import Guess, told_by_hand
from llmviz.course.ui.guess_drawn import words as guess_words
from llmviz.course.ui.guess_given import Given, slot_of
from llmviz.course.ui.prose import quote
from llmviz.course.ui.question import NEAR_END, Question, begins_of, share_question
from tests.pages.harness import sent


def asked(number: int, right: int, *, scale: bool = False) -> Question:
    answers = [f"{(number + 1) * factor} times" for factor in (1, 2, 3, 4)]
    return Question(f"Which of {number}?", answers, right, ["why"] * 4, scale=scale)


@pytest.mark.parametrize("right", range(4))
def test_the_place_of_the_right_answer_does_not_follow_from_the_place_in_the_code(right):
    questions = [asked(number, right) for number in range(2_000)]
    places = Counter(one.order.index(one.right) for one in questions)
    assert all(sorted(one.order) == [0, 1, 2, 3] for one in questions)
    # Each place has 500 of 2,000; five standard deviations of the binomial are 97.
    assert all(abs(places[place] - 500) < 97 for place in range(4)), places


def test_the_steps_of_a_scale_keep_their_order():
    assert all(asked(number, 0, scale=True).order == [0, 1, 2, 3] for number in range(99))


@given(some.floats(0, 1))
def test_a_share_is_asked_with_one_right_answer_and_two_that_are_not_near(right):
    question = share_question("How much?", right, ("it is", "less", "more"), "{:.3f}".format)
    shares = [float(answer) for answer in question.answers]
    assert len(shares) == 3 and shares == sorted(shares) and min(np.diff(shares)) > 0.149
    assert question.answers[question.right] == f"{right:.3f}"
    for share, reason in zip(shares, question.reasons, strict=True):
        own = share == shares[question.right]
        assert reason == ("it is" if own else "less" if share > right else "more")


@given(some.dictionaries(some.integers(0, 9_999), some.text(), min_size=1, max_size=6), some.data())
def test_each_count_is_offered_with_its_reason_as_it_is(reasons, data):
    right = data.draw(some.sampled_from(sorted(reasons)))
    question = Question.among("How many?", reasons, right)
    offered = [int(answer.replace(",", "")) for answer in question.answers]
    assert offered == list(reasons) and offered[question.right] == right
    assert [reasons[count] for count in offered] == list(question.reasons)


def test_only_what_is_still_a_sentence_has_its_slots_filled():
    ask, why = Sentence("{n} of {word}?"), Sentence("It is {n}.")
    typed = {"{n}": why, "b": "{word} was typed"}  # a learner's braces are no slots
    question = Question.among(ask, typed, "b", str.upper, n=2, word="{n}")
    assert (question.text, question.answers) == ("2 of {n}?", ["{N}", "B"])
    assert question.reasons == ["It is 2.", "{word} was typed"] and question.right == 1
    rated = Question.rated(ask, [why, "more"], 1, why, n=3, word="x")
    assert (rated.answers, rated.reasons) == (["It is 3.", "more"], ["It is 3."] * 2)
    assert rated.scale and rated.right == 1
    with pytest.raises(ValueError, match="different answers"):
        Question.among("How many?", {1.1: "a", 1.2: "b"}, 1.1, lambda one: f"{one:.0f}")


def test_a_question_stands_alike_for_all_visitors_and_in_all_processes():
    # `printf 'Q\\0a' | b2sum -l 64` begins with e402, of b with 7cab, of c with 1207.
    assert Question("Q", ["a", "b", "c"], 0, ["x"] * 3).order == [2, 1, 0]


def test_an_answer_is_graded_by_its_words_wherever_it_stands(monkeypatch):
    monkeypatch.undo()  # the page has a session of its own

    def page() -> None:
        from llmviz.course.ui.guess import Guess
        from llmviz.course.ui.question import Question

        for number in range(6):
            answers = [f"{number} and {other}" for other in range(4)]
            question = Question(f"Number {number}?", answers, 2, ["why"] * 4)
            Guess(f"ask{number}", question).ask()

    app = AppTest.from_function(page).run()
    places = []
    for number, radio in enumerate(app.radio):
        places.append(radio.options.index(f"{number} and 2"))
        radio.set_value(2)
    app.run()
    assert len(app.success) == 6 and not app.error
    assert len(set(places)) > 1


RIGHT, WRONG = 37_245.0, 282e9


@pytest.fixture(autouse=True)
def session(monkeypatch):
    """A visitor of their own, from whom the pictures hold back what is asked."""
    monkeypatch.setattr(st, "session_state", {})
    monkeypatch.setattr(guess_given, "COVERS", True)


def numbers(*values):
    return Question.among("How many?", {value: f"why {value}" for value in values}, values[0], str)


def test_a_guess_is_the_answer_that_it_is_nearest_to():
    values = np.random.default_rng(0).uniform(0.1, 1, (200, 4))
    for n, (at, *answers) in enumerate(values.tolist()):
        asked = numbers(*answers)
        made = Guess(f"k{n}", asked)
        made.settle([at])
        gaps = [abs(at - answer) for answer in answers]
        assert made.graded == (gaps[0] == min(gaps))
        assert made.open and made.own == [at]


def test_by_powers_ten_times_too_much_is_as_far_as_ten_times_too_little():
    asked = numbers(RIGHT, WRONG)
    middle = math.sqrt(RIGHT * WRONG)
    for n, at in enumerate((middle / 1.01, middle * 1.01)):
        made = Guess(f"k{n}", asked)
        made.settle([at], log=True)
        assert made.graded == (at < middle)
    plain = Guess("plain", asked)
    plain.settle([middle * 1.01])
    assert plain.graded


def said_of(asked, at, key):
    made = Guess(key, asked)
    made.settle([at])
    return told(made, asked)


def told(made, asked):
    written = unmarked(made._written(asked))
    return told_by_hand(asked, made.given.chosen, written, line=made.given.line)


def test_what_is_counted_is_said_in_whole_numbers():
    for at, answers in ((20.7, (11, 24)), (2.45, (13, 6)), (37.6, (73_728, 49))):
        asked = Question.among("How many?", dict.fromkeys(answers, "why"), answers[0])
        assert f" {round(at)}, " in said_of(asked, at, f"{at}")


def test_who_comes_near_a_wrong_answer_reads_which_one_its_reason_is_about():
    asked = numbers(0.47, 0.7)
    assert "0.7" in said_of(asked, 0.9, "far") and "0.7" not in said_of(asked, 0.5, "right")
    assert said_of(asked, 0.7, "same").count("0.7") == 1
    alike = Question.among("How many?", {0.47: "why", 0.7: "why"}, 0.47, str)
    assert "0.7" not in said_of(alike, 0.9, "alike")


def test_who_clicked_is_told_of_no_way_that_a_line_goes():
    asked = Question("?", ["here", "there"], 0, ["", ""], values=[(1, 0), (2, 9)])
    clicked, drawn = Guess("clicked", asked), Guess("drawn", asked)
    wrong = guess_words.graded["wrong"].format(right="here")
    for at, says, clicks in (([1, 0], "same", "Right: here"), ([2, 9], "other", wrong)):
        drawn.settle(at, line=True)
        assert told(drawn, asked) == guess_words.by_hand[says].format(right="here")
        clicked.settle(at)
        assert told(clicked, asked) == clicks


def test_a_line_that_falls_does_not_go_the_way_of_one_that_rises():
    lines = {"right": [1.0, 2.0, 3.0, 4.0], "flat": [0.0, 0.0, 0.0, 0.0]}
    asked = Question.named("?", {"right": "", "flat": ""}, lines, {"right": "up", "flat": "on"})
    for n, (drawn, graded) in enumerate(
        (([4.0, 3.0, 2.0, 1.0], False), ([2.0, 2.5, 3.0, 3.5], True), ([3.0, 3.0, 3.0, 3.0], True))
    ):
        made = Guess(f"k{n}", asked)
        made.settle(drawn, line=True)
        assert made.graded is graded
    level = Guess("k", asked)
    level.settle([4.0, 3.0, 2.0, 1.0])
    assert level.graded, "of numbers that are no line only the distance counts"


def test_a_guess_between_two_answers_counts_as_the_right_one():
    made = Guess("k", numbers(0.6, 0.4))
    made.settle([0.5])
    assert made.graded


@pytest.mark.parametrize(
    "no_guess",
    [None, [], [1.0, 2.0], ["1"], "1", {"at": 1}, [0], [math.inf], [math.nan], [10**400]],
)
def test_what_is_no_guess_is_passed_over(no_guess):
    made = Guess("k", numbers(RIGHT, WRONG))
    made.settle(no_guess, log=True)
    assert made.graded is None and made.asks


def cases_sent(asked):
    cases = [Case("known", 0.2), Case("asked", 0.47, interval=(0.4, 0.5), dots=[0.46])]
    with collected() as pictures:
        Guess("k", asked).cases(cases, Axis(0, 1), veiled=[1], picture="p")
    return unpack(pictures[0].message[: pictures[0].message.rindex(b'{"key"')])["rows"]


def test_what_is_asked_for_does_not_travel_before_the_guess():
    asked = numbers(0.47, 0.7, 0.95)
    known, veiled = cases_sent(asked)
    assert known["value"] == 0.2
    assert (veiled["value"], veiled["interval"], veiled["dots"]) == (None, None, [])
    Guess("k", asked).settle([0.9])
    told = cases_sent(asked)[1]
    assert told["value"] == 0.47 and told["guess"] == 0.9 and sorted(told["ghosts"]) == [0.7, 0.95]
    assert cases_sent(None)[1]["value"] == 0.47  # nothing is asked


def test_a_told_picture_may_be_in_a_state_without_what_was_asked_for():
    asked = numbers(0.47, 0.9)
    Guess("k", asked).settle([0.9])
    with collected() as pictures:
        Guess("k", asked).cases([Case("known", 0.2)], Axis(0, 1), veiled=[], picture="p")
    assert len(pictures) == 1


def lines_sent(asked, known=2):
    whole = Drawn("loss", [0, 1, 2, 3], [3.0, 2.0, 1.8, 2.4])
    ghosts = [Drawn("down", [2, 3], [1.5, 1.0], dashed=True)]
    scales = Scale(0, 3, "back"), Scale(0, 4, "loss")
    with collected() as pictures:
        look = {"known": known, "picture": "p", "ghosts": ghosts}
        Guess("k", asked).line([], whole, *scales, **look)
    return unpack(pictures[0].message[: pictures[0].message.rindex(b'{"key"')])


def test_a_line_ends_where_the_question_begins():
    values = [(1.8, 2.4), (1.5, 1.0)]
    asked = Question("How on?", ["up", "down"], 0, ["so", "no"], values=values)
    before = lines_sent(asked)
    assert before["asked"]["x"] == [2, 3] and [line["y"] for line in before["lines"]] == [[3, 2]]
    Guess("k", asked).settle([1.5, 1.2])
    after = lines_sent(asked)
    assert Guess("k", asked).graded is False and after["asked"]["x"] == []
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


def test_shares_on_an_axis_by_powers_are_marked_in_percent():
    marks = Axis(1e-4, 1, log=True).marks("chance")
    written = {0.0001: "0.01 %", 0.001: "0.1 %", 0.01: "1 %", 0.1: "10 %", 1: "100 %"}
    assert {round(value, 9): text for value, text in marks} == written


@given(some.lists(some.floats(-1e6, 1e6), min_size=1))
def test_a_line_of_single_trainings_stands_at_their_mean(dots):
    case = Case.mean("a", np.array(dots), role="key")
    assert case.value == pytest.approx(np.mean(dots), abs=1e-6) and list(case.dots) == dots
    if max(dots) > 0:
        assert Axis.over([case], "").high >= max(dots)


def page():
    from llmviz.course.components.case_rows.view import Axis, Case
    from llmviz.course.ui import kit

    asked = kit.Question.among("How much?", {0.47: "so", 0.9: "no"}, 0.47, kit.whole_percent)
    guess = kit.Guess("k", asked)
    guess.cases([Case("asked", 0.47)], Axis(0, 1), veiled=[0], picture="p")
    guess.ask()


def test_a_page_says_what_was_guessed_and_what_is_right(monkeypatch):
    monkeypatch.undo()
    monkeypatch.setattr(guess_given, "COVERS", True)
    app = AppTest.from_function(page).run()
    assert not app.exception and not app.radio
    assert sent(app, "case_rows")["rows"][0]["value"] is None
    asked = Question.among(
        "How much?", {0.47: "so", 0.9: "no"}, 0.47, lambda x: f"{100 * x:.0f}\u00a0%"
    )
    app.session_state[slot_of("", "k")] = Given.to(asked, 1, [0.8])
    app.run()
    assert sent(app, "case_rows")["rows"][0]["value"] == 0.47
    assert "80" in app.error[0].value and "47" in app.error[0].value


def test_a_guess_that_is_right_without_being_the_answer_says_why_it_is_right():
    asked = Question(
        "?", ["31", "60"], 0, ["", ""], values=[(31,), (60,)], write=lambda x: f"{x:g}"
    )
    said, made = {}, Guess("near", asked, by_hand=True)
    for at in (26.0, 31.0, 50.0):
        made.settle([at])
        said[at] = told(made, asked)
    lines = guess_words.by_hand
    assert said[26.0] == lines["near"].format(guess="26", right="31")
    assert said[31.0] == lines["said"].format(guess="31", right="31")
    assert said[50.0] == lines["said"].format(guess="50", right="31")


def test_a_guess_that_is_the_answer_itself_is_not_only_near_where_it_is_marked():
    asked = Question("?", [quote("i"), quote("e")], 0, ["", ""], values=[(8,), (4,)])
    asked = replace(asked, write=lambda at: quote({8: "i", 4: "e"}[at]))
    made = Guess("marked", asked, by_hand=True)
    made.settle([8.0])
    assert told(made, asked) == guess_words.by_hand["said"].format(guess="i", right="i")


def test_what_a_hand_sets_on_a_count_is_written_as_a_count():
    asked = Question.among("How many?", {30: "so", 4000: "no"}, 30)
    made = Guess("count", asked, by_hand=True)
    made.settle([1621.8100973589299], log=True)
    assert made._guessed(asked) == "1,622"


def test_bars_of_one_height_are_a_guess_that_they_are_alike(monkeypatch):
    """Also where the bars that are right for it are lower, and others that differ are nearer."""
    asked = Question(
        "?", ["alike", "falling"], 0, ["", ""], values=[(0.1, 0.1, 0.1), (0.8, 0.5, 0.2)]
    )
    made, bars = Guess("bars", asked), [Case(str(n), 0.1) for n in range(3)]
    drawn = {}
    monkeypatch.setattr(guess_drawn, "case_rows", lambda *_, on_act, **__: drawn.update(act=on_act))
    made.cases(bars, Axis(0, 1), veiled=[0, 1, 2], picture="bars")
    st.session_state["bars"] = {"act": {"guess": [0.5, 0.5, 0.5]}}
    drawn["act"]()
    assert made.graded


def test_a_question_is_asked_once_and_another_state_shows_its_own_result():
    """Neither another text nor another model asks again, or grades an old answer anew."""
    here, there = numbers(0.47, 0.9), numbers(0.3, 0.6)
    Guess("k", here).settle([0.9])
    assert Guess("k", here).graded is False and Guess("k", here).own == [0.9]
    elsewhere = Guess("k", there)
    assert elsewhere.open and elsewhere.graded is None and elsewhere.own is None
    assert Guess("k", here).graded is False  # and back again
    assert Guess("other", there).asks  # the second question of a page is its own
    elsewhere._note(None)  # "Guess again"
    assert Guess("k", here).asks and Guess("k", there).asks


def test_who_has_moved_the_control_is_not_asked_when_it_is_back():
    asked = numbers(0.47, 0.9)
    assert Guess("k", asked).asks
    assert Guess("k", asked, seen=True).open
    assert Guess("k", asked).open and Guess("k", asked).graded is None


def test_another_chapter_asks_its_own_question_under_the_same_name():
    asked = numbers(0.47, 0.9)
    st.session_state[guess_given.HERE] = "a/b"
    Guess("k", asked).settle([0.5])
    st.session_state[guess_given.HERE] = "a/c"
    assert Guess("k", asked).asks


axes = some.tuples(some.floats(1e-3, 1e3), some.floats(1.1, 1e4))


@given(axes, some.floats(0, 1), some.booleans())
def test_no_handle_begins_where_the_answer_is(axis, share, log):
    low, high = axis[0], axis[0] * axis[1]
    right = low * (high / low) ** share if log else low + share * (high - low)
    begin = begins_of(low, high, [right], log=log)[0]
    assert begin in (low, high)
    far = (
        abs(math.log(begin / right) / math.log(high / low))
        if log
        else abs(begin - right) / (high - low)
    )
    assert far > NEAR_END * 0.99


def test_answers_that_are_written_alike_are_one():
    percent = "{:.0%}".format
    asked = Question.among("?", {1.0: "all", 0.9999: "by the scores", 0.4: "so"}, 0.4, percent)
    assert asked.answers == ["100%", "40%"] and asked.reasons == ["all", "so"]
    asked = Question.among("?", {0.4: "near", 0.401: "so", 0.9: "no"}, 0.401, percent)
    assert asked.values == [(0.401,), (0.9,)] and asked.right == 0


def test_answers_that_have_names_get_their_reasons_and_words_by_them():
    lines = {"flat": [1.0, 1.0], "right": np.array([1.0, 2.0])}
    reasons = {"right": "because", "flat": "no", "other": "never"}
    asked = Question.named("And then?", reasons, lines, {"right": "up", "flat": "on"}, scale=True)
    assert (asked.answers, asked.right, asked.reasons) == (["on", "up"], 1, ["no", "because"])
    assert [tuple(line) for line in asked.values] == [(1.0, 1.0), (1.0, 2.0)] and asked.scale
    with pytest.raises(KeyError):
        Question.named("And then?", {"right": "because"}, lines)


def test_of_two_names_for_one_answer_the_right_one_says_why():
    asked = Question.named("How much?", {"right": "yes", "same": "no"}, {"right": 1, "same": 1})
    assert asked.answers == ["1"] and asked.reasons == ["yes"]


@pytest.mark.parametrize(
    ("share", "said"),
    [(0.0, "0 %"), (1.0, "100 %"), (0.9987, "99.9 %"), (0.9999, "99.9 %"), (0.004, "0.40 %")],
)
def test_a_share_is_never_said_to_be_all_or_none_where_it_is_only_near(share, said):
    assert near_percent(share).replace("\u00a0", " ") == said
