"""A GPT that is trained in a page of the site, in a real browser, and what may go wrong there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from llmviz.course.site import own, write
from llmviz.course.site.files import Files
from llmviz.course.site.real_page import RealPage
from tests.browser.conftest import PATIENCE
from tests.browser.hand import until
from tests.browser.test_site import window

pytestmark = pytest.mark.slow  # of the second tier: the site

__all__ = ["window"]
OWN_TEXT = "\n".join(f"{a}{b}" for a in ("ba", "do", "mi", "ku", "le") for b in "abcdefgh")
CHAPTER = (
    '<h1>A chapter</h1>\n<div class="lv-prose"><p>It begins.</p></div>'
    '<p id="example">What was written of the example.</p><h2>Below</h2>'
)
LEARNS = re.compile(r"Step [1-9]")


def own_page(folder: Path, name: str, real: RealPage | None = None) -> str:
    """A chapter's page with its own part alone: the rest of the chapter is tested elsewhere.

    real: a model that it can load, whose files are written beside it.
    """
    files = Files(folder, real=real)
    if real:
        real.shards.put(files.large)
    files.shared({"chapters": [], "terms": []})
    (place,) = (one for one in write.places([name]) if one.name == name)
    html, live = own.own_part(files, name, CHAPTER)
    files.write(place.file, write.page_html([place], place, "", "A chapter", html, {"live": live}))
    return (folder / place.file).as_uri()


@pytest.fixture(scope="module")
def page_of_curves(tmp_path_factory: pytest.TempPathFactory) -> str:
    return own_page(tmp_path_factory.mktemp("training"), "training/curves")


@pytest.fixture
def training(window: Any, page_of_curves: str) -> Iterator[Any]:
    yield opened(window, page_of_curves)


def opened(window: Any, url: str, before: str = "") -> Any:
    if before:
        window.add_init_script(before)
    window.goto(url)
    expect(window.locator("#train-now")).to_contain_text("counting pairs", timeout=PATIENCE)
    return window


def own_text(page: Any, text: str) -> None:
    page.locator("#train-own").check()
    page.locator("#train-text").fill(text)


def step(page: Any) -> int:
    found = re.search(r"Step ([\d,]+)", page.locator("#train-now").inner_text())
    return int(found[1].replace(",", "")) if found else 0


def test_both_models_learn_pause_go_on_and_begin_again(training):
    go = training.locator("#train-go")
    rows = training.locator("#train-written tr")
    expect(rows).to_have_count(1)  # before the first step
    go.click()
    expect(training.locator("#train-now")).to_contain_text(LEARNS, timeout=PATIENCE)
    go.click()
    expect(go).to_have_text("Go on")
    until(training, lambda: stands(training))
    before = step(training)
    go.click()
    until(training, lambda: step(training) > before)
    training.locator("#train-rate").fill("5")
    expect(training.locator("#train-rate-now")).to_have_text("0.1")
    training.locator("#train-again").click()
    until(training, lambda: step(training) < before)
    assert "NaN" not in training.locator("main").inner_text()


def stands(page: Any) -> bool:
    """Whether no more step is told while some time goes by."""
    before = step(page)
    page.wait_for_timeout(500)
    return step(page) == before


def test_a_pasted_text_is_learned_from_and_never_becomes_markup(training):
    own_text(training, OWN_TEXT.replace("a", "<b>a</b>🙂"))
    training.locator("#train-size").fill("0")
    training.locator("#train-go").click()
    expect(training.locator("#train-now")).to_contain_text("your text", timeout=PATIENCE)
    until(training, lambda: step(training) > 0)
    assert training.locator("#train-written b").count() == 0
    training.reload()
    assert "<b>a</b>🙂" in training.locator("#train-text").input_value()
    expect(training.locator("#train-size-now")).to_have_text("1 layer, 16 wide")


def test_too_short_a_text_is_answered_and_stays(training):
    for text in ("", "Ada", "🙂"):
        own_text(training, text)
        training.locator("#train-told").evaluate("told => (told.textContent = '')")
        training.locator("#train-go").click()
        expect(training.locator("#train-told")).to_contain_text(" to learn from.")
        expect(training.locator("#train-go")).to_have_text("Start")
        assert training.locator("#train-text").input_value() == text
    training.locator("#train-names").check()
    training.locator("#train-go").click()
    until(training, lambda: step(training) > 0)


def test_a_long_text_is_learned_from_whole_or_what_is_left_out_is_said(training):
    own_text(training, "abcde " * 17_000)
    training.locator("#train-size").fill("0")
    training.locator("#train-go").click()
    until(training, lambda: step(training) > 0)
    expect(training.locator("#train-told")).not_to_contain_text("first")
    training.locator("#train-text").fill("abcde " * 34_000)
    training.locator("#train-again").click()
    expect(training.locator("#train-told")).to_contain_text("first 200,000 characters")


KILL = """
const Made = Worker;
globalThis.Worker = class extends Made {
  constructor(...given) { super(...given); globalThis.lastWorker = this; }
};
"""


@pytest.mark.parametrize("silent", [True, False])
def test_a_worker_that_is_killed_is_said_and_it_goes_on(window, page_of_curves, silent):
    if silent:
        window.clock.install()
    page = opened(window, page_of_curves, KILL)
    own_text(page, OWN_TEXT)
    page.locator("#train-go").click()
    expect(page.locator("#train-written tr")).not_to_have_count(1)  # something was kept
    page.evaluate("lastWorker.terminate()")
    if silent:
        page.clock.fast_forward(1000)
        for _ in range(12):
            page.clock.run_for(2000)
    else:
        page.evaluate("lastWorker.onerror(new ErrorEvent('error'))")
    expect(page.locator("#train-told")).to_contain_text("“Go on” continues from step")
    expect(page.locator("#train-go")).to_have_text("Go on")
    said = page.locator("#train-told").inner_text()
    kept = int(re.search(r"from step ([\d,]+)", said)[1].replace(",", ""))
    page.locator("#train-go").click()
    until(page, lambda: step(page) > kept)
    assert page.locator("#train-text").input_value() == OWN_TEXT


def test_without_a_worker_the_page_itself_learns(window, page_of_curves):
    page = opened(window, page_of_curves, "delete globalThis.Worker;")
    expect(page.locator("#train-told")).to_contain_text("no worker")
    page.locator("#train-size").fill("0")
    page.locator("#train-go").click()
    until(page, lambda: step(page) > 1)
    page.locator("#train-go").click()
    until(page, lambda: stands(page))


@pytest.mark.parametrize("what", ["getItem", "setItem"])
def test_a_browser_that_keeps_nothing_trains_all_the_same(window, page_of_curves, what):
    forbid = (
        f"Storage.prototype.{what} = () => {{ throw new DOMException('', 'QuotaExceededError') }}"
    )
    page = opened(window, page_of_curves, forbid)
    own_text(page, OWN_TEXT)
    if what == "setItem":
        expect(page.locator("#train-limits")).to_contain_text("copy it before you leave")
    page.locator("#train-go").click()
    until(page, lambda: step(page) > 0)
    assert page.locator("#train-text").input_value() == OWN_TEXT


def pause(page: Any) -> tuple[int, list[str]]:
    """Stop; returns the step, and what was written at each step that is listed."""
    page.locator("#train-go").click()
    expect(page.locator("#train-go")).to_have_text("Go on")
    until(page, lambda: stands(page))
    return step(page), page.locator("#train-written tr").all_inner_texts()


def trained(page: Any) -> Any:
    page.locator("#train-size").fill("0")
    own_text(page, OWN_TEXT)
    page.locator("#train-go").click()
    until(page, lambda: step(page) > 20, 60)
    return page


def test_what_was_learned_stands_after_a_reload_and_goes_on_until_it_is_forgotten(training):
    before = pause(trained(training))
    training.reload()
    expect(training.locator("#train-told")).to_contain_text("Kept from your last visit")
    until(training, lambda: step(training) == before[0])
    assert training.locator("#train-written tr").all_inner_texts() == before[1]
    training.locator("#train-go").click()
    until(training, lambda: step(training) > before[0])
    assert training.locator("#train-written tr").last.inner_text() == before[1][-1]
    training.locator("#train-again").click()
    until(training, lambda: step(training) < before[0])
    training.reload()
    expect(training.locator("#train-go")).to_be_visible()
    assert step(training) < before[0]


@pytest.mark.parametrize("what", ["IDBFactory.prototype.open", "IDBObjectStore.prototype.put"])
def test_a_browser_that_does_not_keep_what_was_learned_says_so(window, page_of_curves, what):
    forbid = f"{what} = () => {{ throw new DOMException('', 'QuotaExceededError') }}"
    page = trained(opened(window, page_of_curves, forbid))
    expect(page.locator("#train-limits")).to_contain_text("does not keep what was learned")
    before, _ = pause(page)
    page.locator("#train-go").click()
    until(page, lambda: step(page) > before)


HIDE = """
const frames = [];
const now = globalThis.requestAnimationFrame;
const hide = (hidden) => {
  const state = { hidden, visibilityState: hidden ? "hidden" : "visible" };
  for (const [name, value] of Object.entries(state))
    Object.defineProperty(document, name, { get: () => value, configurable: true });
  globalThis.requestAnimationFrame = hidden ? (act) => frames.push(act) : now;
  document.dispatchEvent(new Event("visibilitychange"));
  for (const act of hidden ? [] : frames.splice(0)) now(act);
};
globalThis.hide = hide;
globalThis.heard = 0;
"""


def test_it_goes_on_while_another_page_is_in_front(window, page_of_curves):
    """A hidden page draws nothing, and what learns behind it goes on."""
    page = trained(opened(window, page_of_curves, KILL + HIDE))
    page.evaluate("lastWorker.addEventListener('message', (one) => (heard = one.data.step))")
    page.evaluate("hide(true)")
    other = page.context.new_page()
    other.bring_to_front()
    page.wait_for_timeout(100)
    shown = step(page)
    until(page, lambda: page.evaluate("globalThis.heard") > shown + 50, 60)
    assert step(page) == shown
    other.close()
    page.evaluate("hide(false)")
    until(page, lambda: step(page) > shown + 50)


def test_a_device_with_little_memory_begins_with_the_smallest_model(window, page_of_curves):
    little = "Object.defineProperty(Navigator.prototype, 'deviceMemory', { get: () => 2 })"
    page = opened(window, page_of_curves, little)
    expect(page.locator("#train-size-now")).to_have_text("1 layer, 16 wide")
    expect(page.locator("#train-limits")).to_contain_text("little memory")
    page.locator("#train-go").click()
    until(page, lambda: step(page) > 0)


def test_neither_webgpu_nor_webassembly_is_needed(window, page_of_curves):
    page = opened(
        window, page_of_curves, "delete Navigator.prototype.gpu; delete globalThis.WebAssembly;"
    )
    assert page.evaluate("[typeof WebAssembly, 'gpu' in navigator]") == ["undefined", False]
    trained(page)
