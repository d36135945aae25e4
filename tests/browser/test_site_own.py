"""Parts of the site's chapters that read a visitor's own text, in a real browser."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from playwright.sync_api import expect

from llmviz.course.lessons.sampling.temperature.chapter import STOPS
from llmviz.course.site.own import OWN, STORIES
from llmviz.course.ui.common import percent
from llmviz.pretrained import load_bundled
from llmviz.sampling import sampling_steps
from llmviz.similarity import cosine
from llmviz.tokenizers import get_tokenizer
from llmviz.trace import record
from tests.browser.conftest import PATIENCE
from tests.browser.hand import until
from tests.browser.test_pages import nobody_is_kept_out
from tests.browser.test_site import _in_int8, window
from tests.browser.test_site_training import own_page

pytestmark = pytest.mark.slow  # of the second tier: the site

__all__ = ["window"]
FIELDS = {name: part.page.split(".")[0] for name, part in OWN.items() if part.example}
OWL = "The owl baked bread. Then the owl"
FITS = "document.documentElement.scrollWidth <= innerWidth"
ODD = ["", "🙂", "<b>bold</b> & co", "word " * 20_000]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return tmp_path_factory.mktemp("own")


def nobody_is_kept_out_at_any_width(window: Any, name: str) -> None:
    for width in (1440, 390):
        window.set_viewport_size({"width": width, "height": 844})
        until(window, lambda: window.evaluate(FITS))
        nobody_is_kept_out(window, f"{name} at {width}")


def test_nobody_is_kept_out_of_a_training(folder, window):
    name = "training/curves"
    window.goto(own_page(folder / name, name))
    expect(window.locator("#train-told")).not_to_contain_text("Loading", timeout=PATIENCE)
    expect(window.locator("#own tbody tr").first).to_be_visible(timeout=PATIENCE)
    nobody_is_kept_out_at_any_width(window, name)


def typed(window: Any, name: str, text: str) -> Any:
    """Type a text, and wait until its picture is there; returns that."""
    field = window.locator(f"#{FIELDS[name]}-text")
    field.fill(text)
    live = window.locator(f"#{FIELDS[name]}-live")
    expect(live).to_be_visible(timeout=PATIENCE)
    assert field.input_value() == text
    return live


@pytest.mark.parametrize("name", FIELDS)
def test_a_text_takes_the_place_of_the_example_and_gives_it_back(folder, window, name):
    """With its question: nothing of the example's answer is told by a picture of another text."""
    window.goto(own_page(folder / f"{name}.stage", name))
    field, example = window.locator(f"#{FIELDS[name]}-text"), window.locator("#example")
    back = window.get_by_role("button", name="Back to the example")
    expect(back).to_be_hidden()
    first = field.input_value()
    live = typed(window, name, f"{first} indeed")
    expect(example).to_be_hidden()
    nobody_is_kept_out_at_any_width(window, name)
    window.reload()
    expect(live).to_be_visible(timeout=PATIENCE)
    expect(example).to_be_hidden()
    back.click()
    expect(field).to_have_value(first)
    asks_nothing = name == "home"  # there the example itself is read here, too
    expect(example).to_be_visible(visible=not asks_nothing)
    expect(live).to_be_visible(visible=asks_nothing)
    window.reload()
    expect(field).to_have_value(first)


def test_a_link_carries_the_text_and_no_host_is_told_it(folder, window):
    address = own_page(folder / "link", "tokenization/cut")
    odd = "ä & <b>#1</b>\n🙂 = ?"
    window.goto(address)
    typed(window, "tokenization/cut", odd)
    until(window, lambda: "#text=" in window.url)
    link = window.url
    assert link.partition("#")[0] == address
    window.evaluate("localStorage.clear()")
    window.goto("about:blank")
    window.goto(link)
    expect(window.locator("#cut-live")).to_be_visible(timeout=PATIENCE)
    assert window.locator("#cut-text").input_value() == odd
    window.get_by_role("button", name="Back to the example").click()
    until(window, lambda: window.url == address)


def test_temperature_divides_the_logits_of_the_own_text(folder, window):
    window.goto(own_page(folder / "temperature", "sampling/temperature"))
    live = typed(window, "sampling/temperature", OWL)
    model, tokenizer, _ = load_bundled(STORIES)
    with torch.inference_mode():
        ids = torch.tensor([tokenizer.encode_from_start(OWL)])
        logits = _in_int8(model)(ids)[0][0, -1].double().numpy()
    slider, line = live.locator("input[type=range]"), live.locator("p.line")
    for stop in (0.5, 2.0):
        slider.fill(str(STOPS.index(stop)))
        share = sampling_steps(logits, temperature=stop).probabilities.max()
        expect(line).to_contain_text(f"At T = {stop:g} ")
        expect(line).to_contain_text(percent(float(share)))
    for odd in ODD:
        typed(window, "sampling/temperature", odd)
        told = "The model reads the last" if len(odd) > 1000 else ""
        expect(window.locator("#temperature-told")).to_contain_text(told)
        assert slider.input_value() == str(STOPS.index(2.0))
    typed(window, "sampling/temperature", "Once")
    slider.fill("0")
    slider.dispatch_event("change")
    window.locator("#temperature-write").click()
    texts = window.locator("#temperature-written li")
    expect(texts).to_have_count(3)
    expect(texts.last).not_to_be_empty()
    expect(texts.last).to_have_text(texts.first.inner_text())  # at T = 0 nothing is left to chance
    assert "NaN" not in window.locator("main").inner_text()


def test_the_machine_reads_the_own_text_and_writes_into_it(folder, window):
    window.goto(own_page(folder / "machine", "home"))
    model, tokenizer, _ = load_bundled(STORIES)
    live = typed(window, "home", OWL)
    with torch.inference_mode():
        ids = torch.tensor([tokenizer.encode_from_start(OWL)])
        best = int(_in_int8(model)(ids)[0][0, -1].argmax())
    more = tokenizer.decode([best])
    live.locator("button", has_text="Write").first.click()
    field = window.locator("#machine-text")
    expect(field).to_have_value(OWL + more)
    live.locator("button", has_text="Write 10").click()
    until(window, lambda: len(field.input_value()) > len(OWL + more))
    for odd in ODD:
        typed(window, "home", odd)
        expect(live.locator("canvas").first).to_be_visible()
        assert live.locator("b:has-text('bold')").count() == 0


# Notes what makes the browser style the page in the task in which the machine's sheet comes there.
FORCED = """() => {
  globalThis.stood = 0;
  globalThis.forced = [];
  let stands = false;
  const note = (name) => stands && forced.push(name);
  const spied = (owner, name, spy) => {
    const known = Object.getOwnPropertyDescriptor(owner, name);
    const part = known.get ? "get" : "value";
    Object.defineProperty(owner, name, {
      ...known,
      [part](...given) {
        return spy(this, given, () => known[part].apply(this, given));
      },
    });
  };
  const read = (name) => (node, given, run) => (note(name), run());
  spied(Element.prototype, "currentCSSZoom", read("zoom"));
  spied(Element.prototype, "getBoundingClientRect", read("box"));
  spied(Element.prototype, "clientWidth", read("width"));
  spied(globalThis, "getComputedStyle", read("style"));
  spied(CanvasRenderingContext2D.prototype, "drawImage", ({ canvas }, given, run) => {
    if (canvas.isConnected) note("painted");
    return run();
  });
  spied(Element.prototype, "replaceChildren", (node, given, run) => {
    const sheet = given[0] instanceof DocumentFragment && given[0].querySelector(".paper");
    run();
    if (!sheet) return;
    [stood, stands] = [stood + 1, true];
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => (stands = false);
    port2.postMessage(null);
  });
}"""


def test_the_machine_comes_to_stand_without_being_styled_in_that_task(folder, window):
    window.goto(own_page(folder / "styled", "home"))
    expect(window.locator("#machine-live canvas").first).to_be_visible(timeout=PATIENCE)
    window.evaluate(FORCED)
    for many in range(1, 4):
        typed(window, "home", "The owl baked bread. " * many)
        until(window, lambda many=many: window.evaluate("stood") >= many)
        window.wait_for_timeout(100)
    assert window.evaluate("forced") == []


def opened_cell(canvas: Any) -> None:
    """Keep the first cell of a row open, which lies below the names of its columns."""
    canvas.scroll_into_view_if_needed()
    canvas.click(position={"x": 8, "y": canvas.bounding_box()["height"] - 8})


def computed(window: Any) -> float:
    """The number behind the last equals sign of the open cell's first line."""
    line = window.locator("#own .detail").last.inner_text().replace("−", "-").splitlines()
    (said,) = (part for part in line if " = " in part and "[" not in part.split(" = ")[-1])
    return float(said.rpartition("=")[2])


def test_each_step_of_attention_is_that_of_the_model(folder, window):
    window.goto(own_page(folder / "steps", "attention/steps"))
    rows = window.locator("#steps-rows tr")
    typed(window, "attention/steps", OWL)
    model, tokenizer, _ = load_bundled(STORIES)
    ids = tokenizer.encode_from_start(OWL)
    expect(rows).to_have_count(len(ids))
    with torch.inference_mode(), record("blocks.2.attn.*") as trace:
        _in_int8(model)(torch.tensor([ids]))
    for name, value in (("layer", 2), ("head", 3), ("asks", len(ids) - 2)):
        window.locator(f"#steps-{name}").fill(str(value))
    expect(rows).to_have_count(len(ids) - 1)
    expect(window.locator("#steps-said")).to_contain_text("head 3 of layer 2")
    shown = [row.locator("td").all_inner_texts() for row in rows.all()]
    for column, name in enumerate(("scores", "scaled", "weights")):
        wanted = trace[f"blocks.2.attn.{name}"][0, 3, len(ids) - 2, : len(ids) - 1].tolist()
        for row, value in zip(shown, wanted, strict=True):
            told = row[column].replace("−", "-").strip()
            if column < 2:
                assert float(told) == pytest.approx(value, abs=0.011)
            elif "<" not in told and ">" not in told:
                assert float(told.rstrip(" %")) == pytest.approx(100 * value, abs=0.06)
    opened_cell(window.locator("#steps-picture canvas").last)
    weight = trace["blocks.2.attn.weights"][0, 3, len(ids) - 2, 0].item()
    assert computed(window) == pytest.approx(weight, abs=1e-3)
    for odd in ODD:
        window.locator("#steps-text").fill(odd)
        counted = min(24, len(tokenizer.encode_from_start(odd)))
        expect(rows).to_have_count(counted)
        assert window.locator("#steps-rows b").count() == 0
    assert "NaN" not in window.locator("main").inner_text()


def test_the_neighbours_of_a_token_are_those_of_its_vector(folder, window):
    window.goto(own_page(folder / "alike", "embeddings/similarity"))
    rows = window.locator("#alike-rows tr")
    text = "The owl baked bread"
    typed(window, "embeddings/similarity", text)
    model, tokenizer, _ = load_bundled(STORIES)
    ids = tokenizer.encode(text)
    buttons = window.locator("#alike-tokens button")
    expect(buttons).to_have_count(len(ids))
    buttons.nth(1).click()
    expect(buttons.nth(1)).to_have_attribute("aria-pressed", "true")
    table = _in_int8(model).token.weight.detach().double().numpy()
    alike = np.array([cosine(table[ids[1]], row) for row in table])
    alike[ids[1]] = -2
    wanted = [f"{value:.3f}" for value in np.sort(alike)[::-1][:12]]
    expect(rows.locator("td")).to_have_text(wanted)
    opened_cell(window.locator("#alike-pair canvas").last)
    assert computed(window) == pytest.approx(alike.max(), abs=1e-3)
    other = rows.nth(4).get_by_role("button")
    other.click()
    expect(other).to_have_attribute("aria-pressed", "true")
    until(window, lambda: computed(window) == pytest.approx(np.sort(alike)[-5], abs=1e-3))
    for odd in ODD:
        window.locator("#alike-text").fill(odd)
        count = len(tokenizer.encode(odd))
        expect(buttons).to_have_count(min(24, count))
        more = window.locator("#alike-tokens .muted")
        expect(more).to_have_text([f"and {count - 24:,} more"] if count > 24 else [])
        expect(window.locator("#alike-live")).to_be_visible(visible=count > 0)
        expect(rows).to_have_count(12 if odd else 0)
        assert window.locator("#alike-tokens b").count() == 0


def test_only_a_line_that_tells_of_a_cell_stays_in_view(folder, window):
    window.set_viewport_size({"width": 390, "height": 844})
    window.goto(own_page(folder / "in-view", "embeddings/similarity"))
    typed(window, "embeddings/similarity", "The owl baked bread")
    line = window.locator("#alike-pair .detail").last
    expect(line).to_have_css("position", "static")  # or it covers what stands above it
    opened_cell(window.locator("#alike-pair canvas").last)
    expect(line).to_have_css("position", "sticky")


def test_a_text_is_cut_and_never_becomes_markup(folder, window):
    window.goto(own_page(folder / "cut", "tokenization/cut"))
    rows = window.locator("#cut-rows .cut")
    tokenizer = get_tokenizer("bpe")
    for odd in ODD:
        live = typed(window, "tokenization/cut", odd)
        expect(rows).to_have_count(3 if odd else 0)
        if odd:
            for row, count in zip(rows.all()[1:], (len(odd), len(odd.encode())), strict=True):
                expect(row.locator(".caption")).to_contain_text(f": {count:,}")
            said = f"became {len(tokenizer.encode(odd)):,} numbers"
            expect(window.locator("#cut-said")).to_contain_text(said)
        assert live.locator("b:has-text('bold')").count() == 0
    window.reload()
    assert window.locator("#cut-text").input_value() == ODD[-1]
