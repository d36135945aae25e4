"""A presenter and followers of a class, page by page and without a browser."""

from __future__ import annotations

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from llmviz.course.document import languages, texts_of
from llmviz.course.ui import browser, class_question, class_session, classroom, worksheet
from llmviz.course.ui.class_answers import MOST
from llmviz.course.ui.class_session import CLASSES
from llmviz.course.ui.classes import Place
from llmviz.course.ui.classroom import words
from llmviz.course.ui.codec import pack_text
from llmviz.course.ui.documents import offer_languages
from llmviz.course.ui.furniture import words as furniture
from llmviz.course.ui.guess import QUESTIONS
from llmviz.course.ui.guess_drawn import words as guess_words
from llmviz.course.ui.guess_given import Given, slot_of
from llmviz.course.ui.origin import Origin
from tests.pages.harness import ODD_TEXTS, boxes, fine, prose_of, sent, unpack_all

LONG = "".join(chr(0xAC00 + n) for n in range(11_000))  # too long for an address


@pytest.fixture(autouse=True)
def own_windows(tmp_path, monkeypatch):
    """Each page that a test opens is a window of its own, of a browser of its own."""

    def switch(page: str) -> None:
        st.session_state["_page"] = page.removeprefix("pages/").removesuffix(".py")
        st.rerun()

    monkeypatch.setenv("LLMVIZ_RUNS", str(tmp_path))
    monkeypatch.setattr(classroom, "TRIES", classroom.Tries())
    monkeypatch.setattr(st, "switch_page", switch)
    monkeypatch.setattr(st, "page_link", lambda *_, **__: None)  # it finds no page either
    monkeypatch.setattr(classroom.origin, "of_session", lambda _: Origin("10.0.0.1"))
    monkeypatch.setattr(
        class_session, "window", lambda: browser.secret() + st.session_state.get("_w", "")
    )


def window() -> None:
    """What `app.py` runs for each window: AppTest, which finds `pages/`, would leave it out."""
    from types import SimpleNamespace

    import streamlit as st

    from llmviz.course.lessons import LESSONS
    from llmviz.course.ui import classroom
    from llmviz.course.ui.documents import hear_language
    from llmviz.course.ui.lesson import show
    from llmviz.course.ui.shell import sidebar, tidy

    hear_language()
    (lesson,) = (one for one in LESSONS if one.key == st.session_state["_page"])
    classroom.arrive(SimpleNamespace(url_path="" if lesson is LESSONS[0] else lesson.key))
    sidebar()
    tidy("")
    show(lesson)


def opened(page: str, **link: str) -> AppTest:
    """Open a page by its link, with all that stands around it."""
    app = AppTest.from_function(window, default_timeout=120)
    app.session_state["_page"] = page
    for key, value in link.items():
        app.query_params[key] = value
    app.run()
    fine(app)
    return app


def press(app: AppTest, label: str) -> None:
    """Press a button, and let the page run."""
    (button,) = (one for one in app.button if one.label == label)
    button.click().run()
    fine(app)


def end(app: AppTest) -> None:
    """End the class that is led here: it is asked once whether that is meant."""
    press(app, words.end)
    assert class_question.CLASSES is CLASSES and any(app.metric)
    press(app, words.end_now)
    assert not any(app.metric)


def presenter(page: str, **link: str) -> tuple[AppTest, str]:
    """Open a page and a class; return the page and the code."""
    app = opened(page, **link)
    press(app, words.open_box)
    press(app, words.open)
    (code,) = (one.value for one in app.metric)
    return app, code


def follower(page: str, code: str, **link: str) -> AppTest:
    """Open a class's link at a page."""
    app = opened(page, **link, **{"class": code})
    fine(app)
    return app


def join(app: AppTest, code: str) -> None:
    """Join a class by typing its code."""
    if any(one.label == words.open_box for one in app.button):
        press(app, words.open_box)
    (box,) = (one for one in app.text_input if one.label == words.code)
    box.set_value(code)
    press(app, words.join)


def reveals(app: AppTest) -> int:
    """How many answers the page covers."""
    return sum(one.label == "Show me without an answer" for one in app.button)


def address(app: AppTest) -> dict[str, str]:
    """What the address says of the page."""
    written = dict(app.query_params.items())
    return {
        key: value[0] if isinstance(value, list) else value
        for key, value in written.items()
        if key != "class"
    }


def test_a_follower_sees_what_the_presenter_sees():
    assert pack_text(LONG) is None
    ann, code = presenter("tokenization", part="compare")
    bob = follower("tokenization", code, part="cut", text="my own", show="1")
    press(bob, words.look_around)
    bob.text_area[0].set_value("my own").run()
    assert address(bob) == {"part": "compare", "text": "my own"}
    press(bob, words.come_back)
    assert address(bob) == {"part": "compare"}  # what the presenter left alone is at its default
    assert bob.query_params["class"] in (code, [code])
    for text in (*ODD_TEXTS.values(), LONG):
        ann.text_area[0].set_value(text).run()
        bob.run()
        for app in (ann, bob):
            fine(app)
        assert bob.text_area[0].value == text
    press(bob, words.look_around)
    ann.text_area[0].set_value("one step").run()
    bob.text_area[0].set_value("alone").run()
    assert bob.text_area[0].value == "alone"
    press(bob, words.come_back)
    assert bob.text_area[0].value == "one step"
    ann.run()
    assert ann.text_area[0].value == "one step"


def test_what_stands_around_a_page_follows_the_class_into_its_language(monkeypatch):
    monkeypatch.setattr(languages, "_asks", None)
    offer_languages()
    monkeypatch.setattr(type(st.context), "locale", property(lambda _: "zh-CN"))
    ann, code = presenter("tokenization", part="cut")
    ann.query_params["lang"] = "zh"
    ann.run()
    bob = follower("tokenization", code)
    said = {name: texts_of(words, name) for name in ("zh", "en")}
    assert said["zh"]["follows"].format(code=code) in captions(bob)
    assert not {one.label for one in bob.button} & {texts_of(furniture, "zh")["take_offer"]}
    assert "你看到 38 个字符" in prose_of(bob) and address(bob)["lang"] == "zh"
    del ann.query_params["lang"]
    ann.session_state["shared.lang"] = "en"
    ann.run()
    bob.run()
    assert said["en"]["follows"].format(code=code) in captions(bob)
    assert "You see 38 characters" in prose_of(bob) and "lang" not in address(bob)


def test_how_many_have_joined_is_shown_and_the_answers_can_be_saved_after_the_end():
    ann, code = presenter("tokenization")
    none, one, two = (words.joined[count == 1].format(count=count) for count in range(3))
    assert none in captions(ann)
    bob = follower("tokenization", code)
    bob.run()
    ann.run()
    assert one in captions(ann)
    follower("tokenization", code)
    ann.run()
    assert two in captions(ann)
    press(ann, words.end)
    assert words.end_asks in captions(ann)
    press(ann, words.end_not)
    assert words.end_asks not in captions(ann) and CLASSES.find(code) is not None
    end(ann)
    assert words.ended.format(code=code) in captions(ann)
    saves = [one for one in ann.get("download_button") if one.proto.label == words.save_answers]
    assert len(saves) == 1
    assert CLASSES.joined(code) == 0  # nothing is left of it


def captions(app: AppTest) -> list[str]:
    return [one.value for one in app.caption]


@pytest.mark.parametrize(
    ("link", "server", "allowed", "found", "reached"),
    [
        (
            "http://teach.example:8501/?class=A",
            None,
            [],
            "http://teach.example:8501/?class=A",
            True,
        ),
        ("http://localhost:8501/x/?class=A", None, [], "http://10.1.2.3:8501/x/?class=A", True),
        (
            "http://127.0.0.1/?class=A",
            "0.0.0.0",
            ["room.example"],
            "http://room.example/?class=A",
            True,
        ),
        ("http://localhost:8501/", "localhost", [], "http://localhost:8501/", False),
    ],
)
def test_the_link_of_a_class_has_an_address_that_others_reach(
    monkeypatch, link, server, allowed, found, reached
):
    options = {"server.address": server, "server.allowedHosts": allowed}
    monkeypatch.setattr(classroom.st, "get_option", options.__getitem__)
    monkeypatch.setattr(classroom, "address_here", lambda: "10.1.2.3")
    assert classroom.reachable(link) == (found, reached)
    monkeypatch.setattr(classroom, "address_here", lambda: "")
    if "10.1.2.3" in found:
        assert classroom.reachable(link)[1] is False


def test_a_worksheet_is_made_beside_the_page():
    sheets = dict(worksheet.made("tokenization"))
    assert list(sheets) == ["sheet", "answers"] == list(words.sheets)
    assert all("<html" in page for page in sheets.values()) and sheets["sheet"] != sheets["answers"]


def test_a_follower_goes_to_the_presenters_page_and_changes_nothing_for_others():
    ann, code = presenter("glossary", find="softmax")
    bob = follower("tokenization", code)
    assert address(bob) == {"find": "softmax"}
    version = CLASSES.find(code).version
    bob.session_state["_page"] = "tokenization"
    bob.run()
    bob.run()
    assert CLASSES.find(code).version == version
    end(ann)
    bob.run()
    assert words.notices["ended"] in boxes(bob)
    assert not any(one.label == words.look_around for one in bob.button)
    press(bob, words.understood)
    assert words.notices["ended"] not in boxes(bob)
    late = follower("tokenization", code)
    assert words.notices["wrong"] in boxes(late) and "class" not in late.query_params


@pytest.mark.parametrize("typed", [True, False])
def test_who_leaves_is_led_no_more_also_after_f5(typed):
    ann, code = presenter("glossary", find="a")
    bob = opened("glossary") if typed else follower("glossary", f" {code.lower()}")
    if typed:
        join(bob, code)
    press(bob, words.leave)
    CLASSES.show(code, CLASSES.find(code).window, Place("tokenization"))
    late = {"class": code}  # in what his browser sent before it had heard
    for link in ({}, late, {}):
        for key, value in link.items():
            bob.query_params[key] = value
        bob.run()
        assert not any(one.label == words.leave for one in bob.button) and not boxes(bob)
        assert bob.session_state["_page"] == "glossary" and "class" not in bob.query_params
    again = opened("glossary", **address(bob))  # F5
    assert not any(one.label == words.leave for one in again.button)
    join(bob, code)  # he thinks better of it
    assert bob.session_state["_page"] == "tokenization"
    end(ann)
    for _ in range(2):  # the address of a class that has ended is heard of once more
        bob.query_params["class"] = code
        bob.run()
        assert words.notices["ended"] in boxes(bob) and "class" not in bob.query_params


def test_a_follower_with_an_older_page_takes_the_newest_place():
    """Of several steps; what only a newer app of another process knows is passed over."""
    ann, code = presenter("glossary", find="a")
    bob = follower("glossary", code)
    for find in ("b", "c", "softmax"):
        ann.text_input(key=next(one.key for one in ann.text_input if "find" in one.key)).set_value(
            find
        ).run()
    bob.run()
    assert address(bob) == {"find": "softmax"}
    one = CLASSES.find(code)
    CLASSES.show(code, one.window, Place("glossary", {"find": "x", "of_tomorrow": "1"}))
    bob.run()
    fine(bob)
    assert address(bob) == {"find": "x"} and "of_tomorrow" in boxes(bob)
    CLASSES.show(code, one.window, Place("lesson_of_tomorrow"))
    bob.run()
    fine(bob)
    assert address(bob) == {"find": "x"}


def test_an_answer_stays_covered_unless_the_presenter_shows_it(covers):
    ann, code = presenter("tokenization", part="learn")
    bob = follower("tokenization", code)
    covered = reveals(ann)
    assert covered and reveals(bob) == covered
    end(ann)
    _, code = presenter("tokenization", part="learn", show="1")
    assert reveals(follower("tokenization", code)) == 0


def test_what_a_presenter_was_shown_stays_in_that_window(covers):
    ann, code = presenter("tokenization", part="learn")
    bob = follower("tokenization", code)
    press(ann, guess_words.show)
    assert reveals(ann) == 0 and address(ann)["show"] == "learn"
    bob.run()
    assert reveals(bob) and "show" not in address(bob)
    press(bob, guess_words.show)
    ann.run()
    bob.run()
    assert reveals(bob) == 0  # what a follower was shown stays, too


def test_a_follower_and_the_presenter_hear_where_an_answer_has_no_room(monkeypatch):
    monkeypatch.setenv("LLMVIZ_FOLLOWER_KB", "1")
    ann, code = presenter("tokenization", part="merge")
    bob, cem = (follower("tokenization", code) for _ in range(2))
    (own, *_) = (box for box in bob.text_input if box.label == words.own_words)
    own.set_value("한" * MOST).run()
    mine, all_of_them = (words.notices[f"answers_{name}"] for name in ("mine", "all"))
    assert mine.format(count=1) in boxes(bob) and not boxes(cem)
    own.set_value("x" * MOST).run()
    assert not boxes(bob)
    ann.run()
    assert not boxes(ann)
    monkeypatch.setenv("LLMVIZ_CLASS_KB", "1")
    ann.run()
    assert all_of_them.format(count=1) in boxes(ann)
    cem.radio[0].set_value(0).run()
    (own, *_) = (box for box in cem.text_input if box.label == words.own_words)
    own.set_value("x" * MOST).run()
    assert all_of_them.format(count=1) in boxes(cem)


def test_a_presenter_hears_that_more_answer_from_an_address_than_count(monkeypatch):
    monkeypatch.setenv("LLMVIZ_ADDRESS_FOLLOWERS", "2")
    ann, code = presenter("tokenization", part="merge")
    bobs = [follower("tokenization", code) for _ in range(3)]
    told = words.notices["answers_address"].format(count=2)
    for number, bob in enumerate(bobs):
        ann.run()
        assert (words.crowded.format(count=2) in boxes(ann)) == (number == 2)
        bob.radio[0].set_value(0).run()
        fine(bob)
        assert (told in boxes(bob)) == (number == 2)
    ann.run()
    assert words.answered[False].format(count=2) in [text.value for text in ann.caption]


def test_a_view_for_a_projector_covers_answers_and_is_this_windows_alone(covers):
    def projects(app: AppTest) -> bool:
        return any(
            one.proto.component_name == "llmviz_projector" for one in app.get("bidi_component")
        )

    ann, code = presenter("tokenization", part="learn", show="1", projector="1")
    assert projects(ann) and reveals(ann)
    assert address(ann) == {"part": "learn", "projector": "1"}
    bob = follower("tokenization", code)
    assert not projects(bob) and reveals(bob) == reveals(ann)
    assert address(bob) == {"part": "learn"}
    for odd in ("0", "", "<b>"):
        other = opened("glossary", projector=odd)
        assert not projects(other) and not boxes(other) and address(other) == {}


def test_two_windows_of_the_presenter_do_not_lead_at_once():
    first, code = presenter("glossary")
    second = opened("glossary")
    second.session_state[browser._NEW] = first.session_state[browser._NEW]
    second.session_state["_w"] = "2"
    press(second, words.open_box)
    assert words.elsewhere.format(code=code) in [one.value for one in second.caption]
    press(second, words.take)
    first.run()
    assert words.notices["led_elsewhere"] in boxes(first)
    assert not first.metric and second.metric[0].value == code


def test_a_right_code_is_taken_after_many_wrong_ones(monkeypatch):
    waited = []
    monkeypatch.setenv("LLMVIZ_BROWSER_TRIES", "2")
    monkeypatch.setattr(classroom, "TRIES", classroom.Tries(pause=waited.append))
    _, code = presenter("glossary")
    app = opened("glossary")
    for typed in ("AAAAAA", "<b>", "AAAAAC"):
        assert not waited
        join(app, typed)
        assert words.notices["wrong"] in boxes(app)
    assert len(waited) == 1
    join(app, code)
    assert len(waited) == 1
    assert not boxes(app) and any(one.label == words.look_around for one in app.button)


def test_the_class_answers_a_question_and_only_its_presenter_sees_the_counts():
    def counts(app: AppTest) -> list[str]:
        return [one.proto.text for one in app.get("progress")]

    ann, code = presenter("tokenization", part="merge")
    one = CLASSES.find(code)
    bobs = [follower("tokenization", code) for _ in range(3)]
    for place, bob in zip((0, 0, 1), bobs, strict=True):
        bob.radio[0].set_value(place).run()
        bob.run()  # the same answer once more is no second one
        fine(bob)
        assert words.show_answers not in [button.label for button in bob.button]
    ann.run()
    assert words.answered[False].format(count=3) in [text.value for text in ann.caption]
    assert counts(ann) == []
    ann.button(key=next(b.key for b in ann.button if b.label == words.show_answers)).click().run()
    fine(ann)
    assert sorted(text[-1] for text in counts(ann))[-2:] == ["1", "2"]
    press(bobs[0], guess_words.again)
    bobs[0].radio[0].set_value(1).run()  # of one's answers the last one counts
    ann.run()
    assert sorted(text[-1] for text in counts(ann))[-2:] == ["1", "2"]
    wrote = ("short", "<b>Longer</b> **words** 한국어", "x" * 10_000)
    for text, bob in zip(wrote, bobs, strict=True):
        (first, *_) = (box for box in bob.text_input if box.label == words.own_words)
        first.set_value(text).run()
        fine(bob)
    ann.run()
    assert words.wrote[False].format(count=3) in [text.value for text in ann.caption]
    assert not any("short" in text.value for text in ann.text)  # covered until it is asked for
    press(ann, words.show_words)
    lines = [f"– {text[:MOST]}" for text in wrote]
    assert "\n".join([lines[1], lines[0], lines[2]]) in [text.value for text in ann.text]
    press(ann, words.by_length)
    assert "\n".join([lines[2], lines[1], lines[0]]) in [text.value for text in ann.text]
    press(ann, words.hide_words)
    assert not any("short" in text.value for text in ann.text)
    (first, *_) = (one for one in ann.button if one.label == words.tell_all[0])
    for far in (1, 2):
        ann.button(key=first.key).click().run()
        late = follower("tokenization", code)  # who has not answered
        assert "<strong>Right: " in prose_of(late)
        assert [one.label for one in ann.button if one.key == first.key] == [words.tell_all[far]]
    assert words.tell_all[0] not in [button.label for button in late.button]
    ann.button(key=first.key).click().run()
    late.run()
    assert "<strong>Right: " not in prose_of(late)
    table = class_question.table(code)
    assert table.count("\r\n") == 1 + len(ann.radio[0].options) + 3
    end(ann)
    press(bobs[1], guess_words.again)
    bobs[1].radio[0].set_value(1).run()  # after the end
    fine(bobs[1])
    assert class_question.table(code) == ""
    assert list(CLASSES.path(one.code).parent.iterdir()) == []


def test_what_followers_set_on_pictures_stands_on_the_presenters_axes_when_asked_for(covers):
    ann, code = presenter("errors", part="memorization")
    bobs = [follower("errors", code) for _ in range(3)]
    shares, lines = [0.25, 0.5, 0.25], []
    for n, bob in enumerate(bobs):
        bob.session_state[QUESTIONS] = []
        bob.run()
        drawn, share = bob.session_state[QUESTIONS]
        lines.append([4.0 + n] * len(drawn.values[0]))
        for key, question, guess in (
            ("errors.memorization.first", drawn, lines[n]),
            ("errors.memorization.test", share, [shares[n]]),
        ):
            slot = slot_of("errors/memorization", key)
            bob.session_state[slot] = Given.to(question, 0, guess)
        bob.run()
        fine(bob)
    ann.run()
    assert sent(ann, "draw_on")["others"]["y"] == []
    for button in [one for one in ann.button if one.label == words.show_answers]:
        ann.button(key=button.key).click().run()
    fine(ann)
    of_class = unpack_all(ann, "draw_on")[-1]
    assert of_class["others"]["y"] == lines and of_class["asked"]["x"] == []
    assert [len(line["x"]) for line in of_class["lines"]] == [1]  # no more is told than before
    marks = [row for one in unpack_all(ann, "case_rows") for row in one["rows"] if row["dots"]]
    assert [sorted(row["dots"]) for row in marks] == [sorted(shares)]
    assert [row["value"] for row in marks] == [None]
