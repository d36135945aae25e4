"""Classes: who may change one and point in it, how it is found, when it ends, a wrong file."""

from __future__ import annotations

import json
import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as some
from starlette.applications import Starlette
from starlette.requests import HTTPConnection
from starlette.testclient import TestClient
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from llmviz.course.ui import browser, classroom
from llmviz.course.ui.class_answers import ClassAnswers, name_of
from llmviz.course.ui.classes import (
    ALPHABET,
    BESIDE,
    LENGTH,
    MINUTE,
    Classes,
    OpenClass,
    Place,
    Refused,
    Tries,
    code_of,
)
from llmviz.course.ui.classroom import MOST, SECONDS, ClassPointer
from llmviz.course.ui.origin import Origin, of_request
from llmviz.files import whole
from llmviz.files.whole import temporary_beside
from llmviz.runs import store
from tests.awaiting import awaited
from tests.read_only import read_only

ANN, BOB = "a" * 43, "b" * 43
HERE = Origin("10.0.0.1", ANN)
NAME = name_of("why?", [])


def test_only_the_window_that_leads_changes_a_class(classes, clock):
    one = classes.open(ANN, "w1", HERE)
    assert classes.show(one.code, "w1", Place("home"))
    assert not classes.show(one.code, "w2", Place("attention"))
    classes.end(one.code, "w2")
    assert classes.take(BOB, "w2") is None
    other_process = Classes(clock)  # which knows the class by its file alone
    seen = other_process.find(one.code)
    assert seen.version == 1 and seen.place == Place("home")
    assert other_process.take(ANN, "w2").code == one.code  # another window of the same browser
    assert not classes.show(one.code, "w1", Place("attention"))
    assert other_process.show(one.code, "w2", Place("attention"))
    assert classes.find(one.code).place.page == "attention"


def test_a_place_counts_as_new_only_when_it_is(classes):
    one = classes.open(ANN, "w1", HERE)
    for version, page in ((1, "home"), (1, "home"), (2, "sampling"), (3, "home")):
        assert classes.show(one.code, "w1", Place(page, {"part": "x"}))
        assert classes.version(one.code, one.key) == version


@given(text=some.text(some.characters(codec=None)))  # half characters too
def test_a_text_arrives_as_it_was_but_for_half_characters(text):
    place = Place("home", {"text": text}, {"text": text})
    one = OpenClass("AAAAAA", "k", "o", "w", place=place)
    read = OpenClass.read(one.written().encode().decode())
    whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    assert read.place == Place("home", {"text": whole}, {"text": whole})
    assert OpenClass.read(read.written()) == read


@given(text=some.text())
def test_a_code_is_letters_of_its_own_alphabet_and_never_a_path(text):
    code = code_of(text)
    assert code == "" or (len(code) == LENGTH and set(code) <= set(ALPHABET))
    assert code_of(code) == code


def test_a_browser_leads_one_class_and_codes_are_different(classes):
    one = classes.open(ANN, "w1", HERE)
    assert classes.open(ANN, "w2", HERE).code == one.code
    codes = {classes.open(str(n) * 43, "w", Origin(f"10.0.0.{n}")).code for n in range(5)}
    assert len(codes | {one.code}) == 6


def test_where_nothing_can_be_written_a_class_is_refused_and_what_it_had_stays(
    classes, tmp_path, clock
):
    runs, answers = tmp_path / "runs", ClassAnswers(classes)
    runs.mkdir()
    with read_only(runs), pytest.raises(Refused, match="unwritten"):
        classes.open(ANN, "w1", HERE)
    one = classes.open(ANN, "w1", HERE)
    assert classes.show(one.code, "w1", Place("home"))
    answers.ask(one, "why?", ["a", "b"], 1)
    answers.give(one, "x", NAME, 1)
    with read_only(runs):
        for act in (
            lambda: classes.open(BOB, "w2", HERE),
            lambda: classes.take(ANN, "w2"),
            lambda: classes.show(one.code, "w1", Place("attention")),
            lambda: classes.end(one.code, "w1"),
            lambda: answers.give(one, "y", NAME, 0),
            lambda: ClassPointer(classes).put(one.code, one.key, ANN, b"{}"),
        ):
            with pytest.raises(Refused, match="unwritten"):
                act()
        classes.join(one, BOB)  # is not counted
        assert classes.find(one.code).place.page == "home"
    assert Classes(clock).find(one.code).place.page == "home"
    assert classes.show(one.code, "w1", Place("attention"))


def test_a_class_ends_with_its_presenter_or_after_an_idle_time(classes, clock, monkeypatch):
    one = classes.open(ANN, "w1", HERE)
    monkeypatch.setenv("LLMVIZ_CLASS_MINUTES", "10")
    clock.time += 9 * MINUTE
    assert classes.show(one.code, "w1", Place("home"))
    clock.time += 9 * MINUTE
    assert classes.show(one.code, "w1", Place("home"))  # nothing new, but somebody is there
    clock.time += 9 * MINUTE
    assert classes.find(one.code) is not None
    clock.time += 2 * MINUTE
    assert classes.find(one.code) is None and classes.version(one.code, one.key) is None
    assert not classes.show(one.code, "w1", Place("home"))
    two = classes.open(ANN, "w1", HERE)
    assert two.key != one.key
    classes.end(two.code, "w1")
    assert classes.find(two.code) is None and classes.led_by(ANN) is None
    assert list((store.root() / ".classes").iterdir()) == []


def test_a_class_waits_for_a_presenter_whose_network_is_gone_for_a_while(classes, clock):
    one = classes.open(ANN, "w1", HERE)
    classes.show(one.code, "w1", Place("home"))
    clock.time += 20
    assert classes.version(one.code, one.key) == 1  # followers stay where they are
    assert classes.show(one.code, "w1", Place("glossary"))  # the window came back
    clock.time += 20
    assert classes.take(ANN, "w2").code == one.code  # or another one of the same browser
    assert classes.show(one.code, "w2", Place("home")) and not classes.show(
        one.code, "w1", Place("glossary")
    )


@pytest.mark.parametrize("minutes", [-30, -1, 1, 30])
def test_processes_whose_clocks_differ_have_the_same_class(classes, clock, minutes):
    """It may end by so much earlier or later; nothing else depends on a clock."""
    ahead = type(clock)()
    ahead.time = clock.time + MINUTE * minutes
    other = Classes(ahead)
    one = classes.open(ANN, "w1", HERE)
    for number in range(3):
        writer, reader = (classes, other) if number % 2 == 0 else (other, classes)
        assert writer.show(one.code, "w1", Place("glossary", {"find": str(number)}))
        assert reader.find(one.code).place.query == {"find": str(number)}
        assert reader.version(one.code, one.key) == number + 1


def test_what_is_new_is_told_only_for_the_key(classes):
    one = classes.open(ANN, "w1", HERE)
    assert classes.version(one.code, one.key) == 0
    assert classes.version(one.code, one.key[:-1]) is None
    assert classes.version(one.code, "") is None
    assert classes.version("../" + one.code, one.key) is None


def test_a_secret_and_a_file_of_somebody_else_are_not_read(classes):
    one = classes.open(ANN, "w1", HERE)
    (path,) = (store.root() / ".classes").iterdir()
    assert ANN not in path.read_text("utf-8")
    for wrong in ("", "{", "[]", "3", json.dumps({"place": None}), '{"place": {"x": 1}}'):
        path.write_text(wrong, "utf-8")
        assert classes.find(one.code) is None
        assert list(classes._all()) == []
    path.write_bytes(b"\xff\xfe")
    assert classes.find(one.code) is None


def test_there_is_a_limit_of_classes_and_of_what_one_shows(classes, monkeypatch):
    monkeypatch.setenv("LLMVIZ_ADDRESS_CLASSES", "2")
    monkeypatch.setenv("LLMVIZ_MAX_CLASSES", "3")
    monkeypatch.setenv("LLMVIZ_CLASS_KB", "2")
    first = classes.open("1" * 43, "w", Origin("10.0.0.1"))
    classes.open("2" * 43, "w", Origin("10.0.0.1"))
    with pytest.raises(Refused, match="full_ADDRESS"):
        classes.open("3" * 43, "w", Origin("10.0.0.1"))
    classes.open("4" * 43, "w", Origin("10.0.0.2"))
    with pytest.raises(Refused, match="full_MAX"):
        classes.open("5" * 43, "w", Origin("10.0.0.3"))
    assert classes.show(first.code, "w", Place("home", {"text": "a" * 900}))
    with pytest.raises(Refused, match="large"):
        classes.show(first.code, "w", Place("home", {}, {"text": "한" * 900}))
    assert classes.find(first.code).place.query == {"text": "a" * 900}


def tried(tries: Tries, classes: Classes, code: str, origin: Origin) -> str:
    try:
        return tries.find(classes, code, origin).code
    except Refused as refused:
        return refused.reason


def test_after_many_wrong_codes_each_further_one_waits_until_a_minute_has_gone(classes, clock):
    code, waited = classes.open(ANN, "w1", HERE).code, []
    tries = Tries(clock, waited.append)
    for who, most in (
        ([Origin("1", "ann")], 10),  # of a browser
        ([Origin("2", f"new {n}") for n in range(200)], 100),  # of an address, each a browser
        ([Origin("3")], 100),  # without cookies
        ([Origin("4", "eve", own=True)], 10),
        ([Origin("4", f"new {n}", own=True) for n in range(200)], 200),  # at the server's machine
    ):
        waited.clear()
        for number in range(200):
            assert tried(tries, classes, "../..", who[number % len(who)]) == "wrong"
        assert len(waited) == 200 - most
        assert all(tried(tries, classes, code, one) == code for one in who)
        assert len(waited) == 200 - most  # the right one is told at once
    clock.time += MINUTE + 1
    waited.clear()
    assert tried(tries, classes, "AAAAAA", Origin("1", "ann")) == "wrong" and waited == []
    assert len(tries._count) == 2 and len(tries._wrong) == 1


@pytest.mark.parametrize("addresses", [1, 4, 30])
def test_whoever_tries_thousands_of_codes_keeps_nobody_from_joining(classes, clock, addresses):
    """From several addresses, with a new cookie each time, or saying to be somebody else."""
    code, waited = classes.open(ANN, "w1", HERE).code, []
    tries = Tries(clock, waited.append)

    async def arrives(scope, receive, send):
        tried(tries, classes, "AAAAAA", of_request(HTTPConnection(scope)))

    app = ProxyHeadersMiddleware(arrives, "10.0.0.254")  # the one proxy that is believed
    for number in range(1000):
        said = (
            (b"x-forwarded-for", f"10.1.0.{number % 250}".encode()),
            (b"cookie", f"{browser.COOKIE}={number:043}".encode()),
        )
        peer = f"10.0.0.{1 + number % addresses}"
        scope = {"type": "websocket", "scheme": "ws", "client": (peer, 1), "headers": said}
        awaited(app(scope, None, None))
    assert len(waited) == max(0, 1000 - 100 * addresses)
    for number in range(31):
        assert tried(tries, classes, code, Origin(f"10.0.0.{number}", BOB)) == code


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_what_a_request_is_refused_tells_nothing_of_a_class_and_is_no_typed_code(
    classes, monkeypatch, method
):
    waited = []
    tries = Tries(pause=waited.append)
    for name, own in (("CLASSES", classes), ("POINTER", ClassPointer(classes)), ("TRIES", tries)):
        monkeypatch.setattr(classroom, name, own)
    client = TestClient(Starlette(routes=classroom.routes()), raise_server_exceptions=False)
    group = classes.open(ANN, "w1", HERE)

    def said(code: str, key: str) -> tuple[int, str]:
        answer = client.request(method, f"/class/{code}/{key}", content=b"{}")
        return answer.status_code, answer.text

    of_none = said("AAAAAA", "x")
    for key in ("%C3%A9", "%ED%A0%80", "%FF", "%00"):  # not ASCII, half a character, no character
        assert said(group.code, key) == of_none
    for number in range(150):
        assert said(f"AAAA{ALPHABET[number // 25]}{ALPHABET[number % 25]}", "x") == of_none
    if method == "GET":
        assert said(group.code, group.key) == (200, "0")
    assert tried(tries, classes, "AAAAAA", Origin("testclient")) == "wrong" and waited == []
    assert tried(tries, classes, group.code, Origin("testclient")) == group.code


def test_a_window_asks_by_the_key_it_got_and_hears_of_the_end(classes, monkeypatch):
    monkeypatch.setattr(classroom, "CLASSES", classes)
    client = TestClient(Starlette(routes=classroom.routes("/llmviz/")))
    one = classes.open(ANN, "w1", HERE)

    def told(key: str) -> str:
        return client.get(f"/llmviz/class/{one.code}/{key}").text

    assert told(one.key) == "0"
    classes.show(one.code, "w1", Place("home"))
    assert told(one.key) == "1" and told("x") == told("x" * 9_000) == "-1"
    classes.end(one.code, "w1")
    assert told(one.key) == "-1"


NAN = b'{"at": NaN}', 400
TARGET = {"text": "</script> 한국어 👩‍🚀\n\u2028 end", "among": 0}


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    """Classes of a test are its own."""
    monkeypatch.setenv("LLMVIZ_RUNS", str(tmp_path))


def test_only_the_presenters_browser_points_and_every_process_sees_it():
    classes = Classes()
    one = classes.open(ANN, "w", Origin("", ANN))
    pointer = ClassPointer(classes)
    said = json.dumps(TARGET).encode()
    for key, secret in ((one.key, BOB), (one.key, ""), ("other", ANN)):
        assert not pointer.put(one.code, key, secret, said)
    assert pointer.of(one.code) == ""
    assert pointer.put(one.code, one.key, ANN, said)
    lit = ClassPointer(Classes()).of(one.code)  # as another process sees it
    assert json.loads(lit) == TARGET and len(lit.splitlines()) == 1
    assert pointer.put(one.code, one.key, ANN, b"null") and pointer.of(one.code) == ""
    pointer.put(one.code, one.key, ANN, said)
    classes.end(one.code, "w")
    assert list(classes.path(one.code).parent.iterdir()) == []
    assert not pointer.put(one.code, one.key, ANN, said)  # the class has ended


def test_a_light_goes_out_when_its_presenter_says_no_more():
    classes = Classes()
    one = classes.open(ANN, "w", Origin("", ANN))
    pointer = ClassPointer(classes)
    pointer.put(one.code, one.key, ANN, b'{"chart": 1}')
    later = classes.path(one.code).with_suffix(".at").stat().st_mtime + SECONDS
    assert ClassPointer(classes, lambda: later - 1).of(one.code)
    assert ClassPointer(classes, lambda: later + 1).of(one.code) == ""


@pytest.mark.parametrize("ahead", [0, 10 * MINUTE])  # another machine's clock
def test_who_looks_for_classes_takes_nothing_that_is_written_at_this_moment(ahead, monkeypatch):
    def slow_disk(path: Path) -> None:
        time.sleep(0.01)

    monkeypatch.setattr(whole, "sync", slow_disk)
    classes = Classes()
    one = classes.open(ANN, "w", HERE)
    pointer, thought = ClassPointer(classes), ClassAnswers(classes)
    lists, ended = Classes(lambda: time.time() + ahead), threading.Event()

    def look() -> None:
        while not ended.is_set():
            assert lists.led_by(BOB) is None

    with ThreadPoolExecutor(1) as pool:
        looking = pool.submit(look)
        try:
            for number in range(20):
                target = {"chart": number}
                assert pointer.put(one.code, one.key, ANN, json.dumps(target).encode())
                assert json.loads(pointer.of(one.code)) == target
                # A file that another process wrote in part is written anew, whole.
                with classes.path(one.code).with_suffix(".jsonl").open("ab") as file:
                    file.write(b'["n", "w')
                thought.say(one, str(number), NAME, "because")
                assert classes.show(one.code, "w", Place("home", {"text": str(number)}))
        finally:
            ended.set()
        looking.result()
    assert len(thought.ask(one, "why?", [], -1).own_words) == 20


def test_what_a_killed_process_left_unfinished_goes_after_an_hour(classes, clock):
    one = classes.open(ANN, "w", HERE)
    left = [temporary_beside(classes.path(one.code).with_suffix(end)) for end in BESIDE]
    left.append(temporary_beside(classes.path(one.code)))
    for path in left:
        path.write_text("unfinished", "utf-8")
        os.utime(path, (clock.time, clock.time))
    assert classes.led_by(ANN) == one and all(path.exists() for path in left)
    clock.time += 61 * MINUTE
    assert classes.led_by(ANN) == one and not any(path.exists() for path in left)


def test_a_follower_hears_of_it_with_the_version_and_what_is_wrong_is_refused():
    client = TestClient(Starlette(routes=classroom.routes("/llmviz")))
    one = classroom.CLASSES.open(ANN, "w", Origin("", ANN))
    address = f"/llmviz/class/{one.code}/{one.key}"
    assert client.get(address).text == "0"
    post = {"content": json.dumps(TARGET)}
    assert client.post(address, **post).status_code == 403
    client.cookies.set(browser.COOKIE, BOB)
    assert client.post(address, **post).status_code == 403
    client.cookies.set(browser.COOKIE, ANN)
    assert client.post(address, **post).status_code == 204
    version, lit = client.get(address).text.split("\n")
    assert version == "0" and json.loads(lit) == TARGET
    for wrong, status in (
        (b"x" * (MOST + 1), 413),
        (b"[" * MOST, 400),
        (b"[1]", 400),
        (b"{", 400),
        (b"\xff", 400),
        NAN,
    ):
        assert client.post(address, content=wrong).status_code == status
    assert client.get(address).text.split("\n")[1] == lit  # what was there stays
