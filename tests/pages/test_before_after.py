"""The two tests before and after the course: alone, in a class, and kept in a browser."""

from __future__ import annotations

import csv
import io
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from llmviz.course.lessons.before_after import counts, page, words
from llmviz.course.lessons.before_after.page import Sheet, read, written
from llmviz.course.lessons.before_after.questions import (
    ITEMS,
    MODEL,
    all_asks,
    continued,
    questions,
)
from llmviz.course.lessons.before_after.two_tests import TESTS
from llmviz.course.ui import class_question, classroom, engine
from llmviz.course.ui.class_answers import MOST
from llmviz.course.ui.class_session import CLASSES
from llmviz.course.ui.classes import Classes
from llmviz.course.ui.origin import Origin
from tests.pages.harness import boxes, fine, fine_page, prose_of
from tests.pages.test_classroom import follower, opened, own_windows, presenter, press

__all__ = ["own_windows"]  # a fixture for all tests here

ODD = "<b>Bern</b> **x** {y} 한국어 =1+1"


def answer(app, wrong: int = 0) -> None:
    """Answer all ten questions of the page, the first ones wrongly."""
    test = "a" if app.query_params.get("when", ["before"])[0] != "after" else "b"
    for at, question in enumerate(questions(test)):
        chosen = question.right if at >= wrong else (question.right + 1) % 4
        app.radio[at].set_value(chosen)
    app.run()
    fine(app)


def heads(app) -> list[str]:
    return [one.value for one in app.subheader]


def test_a_test_says_nothing_until_both_are_done_and_then_how_each_went():
    app = opened("before_after")
    assert [one.label for one in app.radio] == [words.label] * 10
    told = words.so_far.format(answered=0, all=10)
    assert told in [one.value for one in app.caption]
    answer(app, wrong=4)
    app.text_area[0].set_value(ODD).run()
    press(app, words.done)
    assert words.waits in boxes(app) and heads(app) == []
    assert all(one.disabled for one in app.radio)
    app.query_params["when"] = "after"
    app.run()
    assert not any(one.value is not None for one in app.radio)
    answer(app, wrong=1)
    press(app, words.done)
    assert heads(app) == [
        words.result.format(title=words.title_of[when], right=right, all=10)
        for when, right in (("before", 6), ("after", 9))
    ]
    assert ODD in [one.value for one in app.text] and words.waits not in boxes(app)
    press(app, words.forget)
    assert heads(app) == [] and not any(one.disabled for one in app.radio)


def test_a_single_test_is_shown_on_demand_with_the_reasons():
    app = opened("before_after", when="after", swapped="1")
    (first, *_) = questions("a")
    right = first.answers[first.right]
    app.radio[0].set_value(first.right).run()
    press(app, words.done)
    assert heads(app) == []
    press(app, words.look)
    title = words.title_of["after"]
    assert heads(app) == [words.result.format(title=title, right=1, all=10)]
    shown = prose_of(app)
    assert f"<strong>{right}</strong> is right." in shown and f"You: {words.none}." in shown


@pytest.mark.parametrize("test", TESTS)
def test_what_the_model_wrote_is_wrong_and_its_country_was_not_read(test):
    engine.start()
    engine.wait(300)
    found = continued(engine.load(MODEL), test)
    country, capital = ITEMS[test]
    assert country in found.beginning and found.written and capital not in found.written
    assert found.is_wrong and not found.was_read and 0 < found.share < 1


def test_without_the_model_ten_questions_are_left(monkeypatch):
    def missing(name):
        raise ValueError("no such checkpoint")

    monkeypatch.setattr(page.engine, "load", missing)
    app = fine_page("before_after")
    assert len(app.radio) == 10 and not app.text_area and MODEL in boxes(app)


def test_what_a_browser_kept_comes_back_and_what_was_answered_meanwhile_stays(monkeypatch):
    first = page.question_name(questions("a")[0])
    kept = {"before": Sheet("a", {first: 2}, "by chance", True), "after": Sheet()}
    state = {"test_keeper": {"kept": [written(kept), 1.0]}}
    monkeypatch.setattr(page.st, "session_state", state)
    page.sheet_of()["after"] = Sheet("b", {}, "meanwhile")
    page._take()
    assert page.sheet_of() == {"before": kept["before"], "after": Sheet("b", {}, "meanwhile")}
    page._take()  # a second message of the same browser is none
    page.forget()
    assert page.sheet_of() == read("") and written(page.sheet_of()) == ""


@settings(max_examples=50, deadline=None)
@given(
    answers=some.dictionaries(some.text(max_size=24), some.integers(-2, 9), max_size=5),
    own=some.text(max_size=MOST),
    flags=some.tuples(some.booleans(), some.booleans()),
)
def test_sheets_come_back_as_they_were(answers, own, flags):
    kept = {"before": Sheet("a", answers, own, *flags), "after": Sheet("b")}
    assert read(written(kept)) == kept


@pytest.mark.parametrize(
    "text",
    [
        None,
        7,
        "",
        "{",
        "[" * 30_000,
        "[]",
        '{"before": 3}',
        json.dumps(
            {"before": {"test": "z", "answers": {}, "own": "", "done": True, "looked": True}}
        ),
        json.dumps(
            {"before": {"test": "a", "answers": {}, "own": 1, "done": True, "looked": True}}
        ),
        "x" * 20_001,
    ],
)
def test_what_is_no_sheet_counts_as_nothing(text):
    done = {"test": "", "answers": {}, "own": "", "done": True, "looked": True}
    assert not read(json.dumps({"before": done}))["before"].done  # of no test
    assert read(text) == {"before": Sheet(), "after": Sheet()}
    long = {"test": "a", "answers": {"x": True, "y": 1}, "own": "é" * 999, "done": 0 == 0}
    found = read(json.dumps({"after": {**long, "looked": False}}))["after"]
    assert found == Sheet("a", {"y": 1}, "é" * MOST, done=True)


def test_a_class_is_counted_and_its_words_are_sorted_without_names():
    ann, code = presenter("before_after")
    one = CLASSES.find(code)
    bobs = [follower("before_after", code) for _ in range(3)]
    for wrong, bob in enumerate(bobs):
        answer(bob, wrong=wrong)
        assert words.where["follows"].format(code=code).split(",")[0] in prose_of(bob)
    said = (ODD, ODD, "It was taught so.")
    for text, bob in zip(said, bobs, strict=True):
        bob.text_area[0].set_value(text).run()
        fine(bob)
        assert words.show not in [button.label for button in bob.button]
    ann.run()
    told = words.answered[False].format(count=3, whole=3)
    assert told in [text.value for text in ann.caption] and not ann.dataframe
    press(ann, words.show)
    of, whole, kinds = (frame.value for frame in ann.dataframe)
    assert list(of[words.when["before"]][:3]) == ["1 of 3", "2 of 3", "3 of 3"]
    assert list(whole[words.when["before"]]) == [0] * 8 + [1, 1, 1]
    assert list(kinds[words.when["before"]]) == [0, 0, 0, 0, 0, 3]
    picks = [one for one in ann.get("button_group") if words.kind_label in one.proto.label]
    assert len(picks) == 2
    name = all_asks()["before", "a"][-1].name
    class_question.THOUGHT.sort(one, name, ODD, "chance")
    class_question.THOUGHT.sort(one, name, ODD, "data")
    ann.run()
    assert list(ann.dataframe[2].value[words.when["before"]]) == [2, 0, 0, 0, 0, 1]
    rows = list(csv.reader(io.StringIO(counts.table(all_asks(), class_question.THOUGHT.of(one)))))
    assert rows[0] == list(counts.HEAD)
    assert ["before", "a", "own words: data", ODD, "", "2"] in rows
    assert ["before", "a", "kind", "data", "", "2"] in rows
    assert sum(int(row[5]) for row in rows if row[2] == "1") == 3
    people = class_question.THOUGHT.of(one)[name].own_words
    assert not any(who in str(rows) for who in people)
    press(ann, classroom.words.end)
    press(ann, classroom.words.end_now)
    bobs[0].radio[0].set_value(0).run()  # after the end
    fine(bobs[0])
    assert list(CLASSES.path(one.code).parent.iterdir()) == []


def test_saved_counts_come_back_and_are_added_to_those_of_a_later_class():
    asks = all_asks()
    classes = Classes()
    one = classes.open("s" * 43, "w", Origin("10.0.0.1"))
    thought = class_question.ClassAnswers(classes)
    thought.ask_all(one, (ask for some_asks in asks.values() for ask in some_asks))
    for who, test in (("x", "a"), ("y", "b"), ("z", "b")):
        *ten, own = asks["before", test]
        for at, ask in enumerate(ten):
            thought.give(one, who, ask.name, ask.right if at else 0)
        thought.say(one, who, own.name, ODD if who == "x" else "=1, \n2")
    thought.sort(one, asks["before", "a"][-1].name, ODD, "mind")
    now = counts.counted(asks, thought.of(one))
    back = counts.read_table(counts.table(asks, thought.of(one)).encode())
    for name in ("answered", "right", "whole", "kinds"):
        assert getattr(back["before"], name) == getattr(now["before"], name)
    assert back["before"].words.total() == 3 and back["after"].answered == [0] * 10
    both = counts.together(now, back)["before"]
    assert both.answered == [6] * 10 and both.kinds == {"mind": 2} and both.whole.total() == 6


@pytest.mark.parametrize(
    ("data", "rule"),
    [
        (b"", "begins with when,test"),
        (b"question,answer,right,count\r\n", "begins with when,test"),
        (b"\xff\xfe", "no file of counts"),
        (b"x" * 1_000_001, "at most 1,000 kB"),
        *(
            (b"when,test,what,text,right,count\r\n" + row, "line 2")
            for row in (
                b"before,a,1,x,1",
                b"before,a,1,x,1,-1",
                b"before,a,1,x,1,9999999",
                b"before,a,0,x,1,1",
                b"before,a,11,x,1,1",
                b"before,c,1,x,1,1",
                b"later,a,1,x,1,1",
                b"before,a,kind,liked it,,1",
                b"before,a,right of all,11,,1",
                b"before,a,name,Ann,,1",
            )
        ),
    ],
)
def test_what_is_no_file_of_counts_is_refused_with_its_rule(data, rule):
    with pytest.raises(ValueError, match=rule):
        counts.read_table(data)


def test_counts_leave_out_answers_that_there_are_not_and_add_both_tests():
    asks = all_asks()
    classes = Classes()
    one = classes.open("s" * 43, "w", Origin("10.0.0.1"))
    thought = class_question.ClassAnswers(classes)
    for who, test in (("x", "a"), ("y", "b")):
        for ask in asks["before", test][:-1]:
            thought.give(one, who, ask.name, ask.right)
    thought.give(one, "z", asks["before", "a"][0].name, 9)
    thought.give(one, "z", asks["after", "a"][0].name, (asks["after", "a"][0].right + 1) % 4)
    thought.ask_all(one, (ask for some_asks in asks.values() for ask in some_asks))
    found = counts.counted(asks, thought.of(one))
    assert found["before"].answered == found["before"].right == [2] * 10
    assert found["before"].whole == {10: 2} and found["before"].people == 2
    assert found["after"].answered[0] == 1 and found["after"].right[0] == 0
    assert found["after"].whole.total() == 0
