"""A component whose Python answers late, played by the test: a slow server, exactly timed."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
import streamlit as st

from llmviz.course.components import WrittenToken, writer
from llmviz.course.components._shared import transport as wire
from llmviz.course.lessons.sampling.writing import words

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


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What Python would hand to the browser: the script ("js") and the last message ("data")."""
    found: dict[str, Any] = {}

    def component(_name: str, **parts: Any) -> Callable[..., None]:
        found.update(parts)
        return lambda **given: found.update(given)

    monkeypatch.setattr(st.components.v2, "component", component)
    monkeypatch.setitem(writer.__globals__, "renderer", wire.renderer.__wrapped__)
    return found


def message(sent: dict[str, Any], known: int, length: int) -> list[int]:
    """What Python sends for a text of `length` tokens of which `known` are ready."""
    tokens = [
        WrittenToken(n, f" w{n}", 0.5, 0.5, 1, 0.7, 0.1, [(n, f" w{n}", 0.5)]) for n in range(known)
    ]
    writer(tokens, key="late", prompt="One", words=words.writer, length=length, limit=200)
    return list(sent["data"])


def test_a_late_answer_takes_no_token_back(page, sent):
    data = message(sent, 80, 0)
    page.evaluate(MOUNT, [sent["js"], data])
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
    page.evaluate("data => window.answer(data)", message(sent, 140, asked["length"]))
    assert page.locator(".tok").count() == written
    # The place where it rests is told all the same, and Python's answer to it changes nothing.
    page.wait_for_function("n => window.acts.at(-1).length === n", arg=written)
    page.evaluate("data => window.answer(data)", message(sent, 140, written))
    assert page.locator(".tok").count() == written
    # Another length that Python brings by itself, from a link, is followed.
    page.evaluate("data => window.answer(data)", message(sent, 140, 5))
    assert page.locator(".tok").count() == 5, json.dumps(page.evaluate("() => window.acts"))
