"""What a presenter points at: who may say it, what is refused, when it goes out."""

from __future__ import annotations

import json

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from llmviz.course.ui import browser, classroom
from llmviz.course.ui.classes import Classes
from llmviz.course.ui.classroom import MOST, SECONDS, ClassPointer
from llmviz.course.ui.origin import Origin

ANN, BOB = "a" * 43, "b" * 43
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
