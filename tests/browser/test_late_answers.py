"""A component whose Python answers late, played by the test: a slow server, exactly timed."""

from __future__ import annotations

import json
from typing import Any

import pytest
import streamlit as st

from llmviz.ui.components import WrittenToken, wire, writer
from llmviz.ui.lessons.sampling.words.writing import WRITER

MOUNT = """async ([script, data]) => {
  const address = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
  const draw = (await import(address)).default;
  window.acts = [];
  const component = {
    parentElement: document.body,
    setStateValue: () => {},
    setTriggerValue: (name, value) => window.acts.push(value),
  };
  window.answer = (bytes) => draw({ ...component, data: new Uint8Array(bytes) });
  window.answer(data);
}"""


@pytest.fixture
def page(browser):
    context = browser.new_context()
    yield context.new_page()
    context.close()


def message(monkeypatch: pytest.MonkeyPatch, known: int, length: int) -> list[int]:
    """What Python sends for a text of `length` tokens of which `known` are ready."""
    sent: dict[str, Any] = {}
    monkeypatch.setitem(
        writer.__globals__, "renderer", lambda name: lambda **given: sent.update(given)
    )
    tokens = [
        WrittenToken(n, f" w{n}", 0.5, 0.5, 1, 0.7, 0.1, [(n, f" w{n}", 0.5)]) for n in range(known)
    ]
    writer(tokens, key="late", prompt="One", words=WRITER, length=length, limit=200)
    return list(sent["data"])


def script(monkeypatch: pytest.MonkeyPatch, name: str) -> str:
    """All of a component's script, as the browser gets it."""
    given: dict[str, str] = {}
    with monkeypatch.context() as patch:
        patch.setattr(st.components.v2, "component", lambda _name, **parts: given.update(parts))
        wire.renderer.__wrapped__(name)
    return given["js"]


def test_a_late_answer_takes_no_token_back(page, monkeypatch):
    page.evaluate(MOUNT, [script(monkeypatch, "writer"), message(monkeypatch, 80, 0)])
    # Writing asks for more in time, and goes on while Python is busy with it.
    page.locator(".press.strong").click()
    page.wait_for_function("() => window.acts.some((act) => act.want)")
    asked = page.evaluate("() => window.acts.find((act) => act.want)")
    page.wait_for_function(
        "n => document.querySelectorAll('.tok').length > n + 2", arg=asked["length"]
    )
    page.locator(".press.strong").click()
    written = page.locator(".tok").count()
    assert written > asked["length"]
    page.evaluate("data => window.answer(data)", message(monkeypatch, 140, asked["length"]))
    assert page.locator(".tok").count() == written
    # The place where it rests is told all the same, and Python's answer to it changes nothing.
    page.wait_for_function("n => window.acts.at(-1).length === n", arg=written)
    page.evaluate("data => window.answer(data)", message(monkeypatch, 140, written))
    assert page.locator(".tok").count() == written
    # Another length that Python brings by itself, from a link, is followed.
    page.evaluate("data => window.answer(data)", message(monkeypatch, 140, 5))
    assert page.locator(".tok").count() == 5, json.dumps(page.evaluate("() => window.acts"))
