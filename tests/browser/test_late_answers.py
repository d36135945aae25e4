"""A server that answers late takes nothing back that the hand has set since."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
import streamlit as st

from llmviz.course.components import WrittenToken, writer
from llmviz.course.components._shared import transport as wire
from llmviz.course.lessons.sampling.writing import words
from tests.browser.hand import HOLD, settle

# A component whose Python is played by the test: a slow server, exactly timed.
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


def in_between(page, *keys: str) -> None:
    """Press keys, the last ones while the page's answer to the first is on its way."""
    page.evaluate(HOLD)
    page.keyboard.press(keys[0])
    page.wait_for_function("() => window.held.length > 0")
    for key in keys[1:]:
        page.keyboard.press(key)
    page.evaluate("window.release()")
    settle(page, calm=700)


def test_the_machine_keeps_its_stage_and_row(visit):
    page = visit.page
    visit.open("?text=The cat sat", ".band")
    count = page.locator(".player .count")
    last = int(count.inner_text().split("/")[1])
    page.locator(".machine").focus()
    in_between(page, "ArrowLeft", "ArrowUp", "ArrowLeft", "ArrowLeft")
    assert count.inner_text() == f"{last - 3} / {last}"
    assert f"step={last - 3}" in page.url
    assert (
        page.locator(".chip.on").inner_text()
        == page.locator(".chip:not(.ghost)").nth(-2).inner_text()
    )


def test_a_film_of_a_map_keeps_its_frame(visit):
    page = visit.page
    visit.open("embeddings?part=word2vec&watch=Monday&show=1", "canvas.map")
    film = page.locator(".lv:has(canvas.map)")
    last = int(film.locator("input.scrub").get_attribute("max"))
    film.locator("input.scrub").focus()
    in_between(page, "ArrowLeft", "ArrowLeft")
    assert film.locator(".count").inner_text() == f"{last - 2} / {last}"
    assert f"frame={last - 2}" in page.url


@pytest.mark.parametrize(
    ("part", "name", "back", "on"),
    [
        ("temperature", "temperature", "ArrowLeft", "ArrowRight"),
        ("pipeline", "temperature", "ArrowLeft", "ArrowRight"),
        ("pipeline", "top-p", "ArrowRight", "ArrowLeft"),  # it begins at its end, which is off
    ],
)
def test_a_slider_keeps_its_stop_and_the_keyboard(visit, part, name, back, on):
    page = visit.page
    visit.open(f"sampling?part={part}&show=1", f"input[aria-label={name}]")
    slider = page.locator(f"input[aria-label={name}]")
    start, step = int(slider.input_value()), 1 if on == "ArrowRight" else -1
    slider.focus()
    in_between(page, on, on, on)
    page.keyboard.press(on)
    assert int(slider.input_value()) == start + 4 * step
    in_between(page, back, on)  # where the page is before it hears of both
    assert int(slider.input_value()) == start + 4 * step
    settle(page)
    address = page.url
    page.goto("about:blank")
    page.goto(address)
    settle(page)
    assert int(slider.input_value()) == start + 4 * step


@pytest.mark.parametrize("part", ["temperature", "pipeline"])
def test_a_stop_of_a_link_that_goes_leaves_the_hand_on_its_own(visit, part):
    page = visit.page
    visit.open(f"sampling?part={part}&show=1&temperature=0.97", "input[aria-label=temperature]")
    slider = page.locator("input[aria-label=temperature]")
    start = int(slider.input_value())
    slider.focus()
    page.keyboard.press("ArrowRight")  # to 1; 0.97 is no stop any more
    settle(page, calm=700)
    assert (int(slider.input_value()), "0.97" in page.url) == (start, False)


def test_one_of_streamlits_sliders_goes_on_from_where_the_hand_has_put_it(visit):
    page = visit.page
    visit.open("tokenization?part=merge&show=1", "[data-testid=stSlider]")
    slider = page.locator("[data-testid=stSlider] input").first
    slider.focus()
    start = float(slider.input_value())
    page.evaluate(HOLD)
    for count in (1, 2):
        page.keyboard.press("ArrowRight")
        page.wait_for_function("count => window.held.length === count", arg=count)
    page.evaluate("window.release(1)")
    settle(page)
    assert float(slider.input_value()) == start + 2  # the server has heard of one
    page.evaluate("window.release()")
    settle(page, calm=700)
    assert float(slider.input_value()) == start + 2
    page.get_by_role("radio", name="Merge", exact=True).wait_for()
    page.get_by_role("radio", name="Learn", exact=True).click()
    visit.settle()
    page.get_by_role("radio", name="Merge", exact=True).click()
    visit.settle()
    assert float(slider.input_value()) == start + 2  # what comes back is given its value


def test_what_is_typed_stays_where_a_click_comes_before_the_server_has_read_it(visit):
    page = visit.page
    visit.open("?text=The cat", ".band")
    page.locator("textarea").first.press("End")
    page.locator("textarea").first.press_sequentially(" and I")
    page.evaluate(HOLD)
    page.locator("textarea").first.press("Control+Enter")
    page.wait_for_function("() => window.held.length === 1")
    page.get_by_text("Write 10").click()  # with the address of before
    page.wait_for_function("() => window.held.length === 2")
    page.evaluate("window.release()")
    page.wait_for_url(re.compile(r"and\+I.+"))
    settle(page)
    assert page.locator("textarea").first.input_value().startswith("The cat and I")
