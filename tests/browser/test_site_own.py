"""Parts of the site's chapters that read a visitor's own text, in a real browser."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from playwright.sync_api import expect

from llmviz.course.site.own import STORIES
from llmviz.pretrained import load_bundled
from llmviz.sampling import sampling_steps
from llmviz.similarity import cosine
from llmviz.trace import record
from tests.browser.conftest import PATIENCE
from tests.browser.test_pages import nobody_is_kept_out
from tests.browser.test_site import _in_int8, window
from tests.browser.test_site_training import own_page

__all__ = ["window"]
NAMES = ["tokenization/cut", "embeddings/similarity", "attention/steps", "sampling/temperature"]
NAMES += ["training/curves"]
ODD = ["", "🙂", "<b>bold</b> & co", "word " * 20_000]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return tmp_path_factory.mktemp("own")


@pytest.mark.parametrize("width", [1440, 390])
@pytest.mark.parametrize("name", NAMES)
def test_nobody_is_kept_out_of_an_own_part(folder, window, name, width):
    window.set_viewport_size({"width": width, "height": 844})
    window.goto(own_page(folder / f"{name}.{width}", name))
    told = window.locator("#train-now, #own [role='status']").first
    expect(told).not_to_contain_text("Loading", timeout=PATIENCE)
    expect(window.locator("#own tbody tr, #own .chip").first).to_be_visible(timeout=PATIENCE)
    nobody_is_kept_out(window, name)
    assert window.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_temperature_divides_the_logits_of_the_own_text(folder, window):
    window.goto(own_page(folder / "temperature", "sampling/temperature"))
    rows = window.locator("#temperature-next tr")
    expect(rows).to_have_count(10, timeout=PATIENCE)
    model, tokenizer, _ = load_bundled(STORIES)
    text = "The owl baked bread. Then the owl"
    window.locator("#temperature-text").fill(text)
    window.locator("#temperature-slider").fill("2")
    with torch.inference_mode():
        ids = torch.tensor([tokenizer.encode_from_start(text)])
        logits = _in_int8(model)(ids)[0][0, -1].double().numpy()
    shares = sampling_steps(logits, temperature=2).probabilities
    wanted = f"{100 * shares.max():.{1 if shares.max() >= 0.1 else 2}f} %"
    expect(rows.first.locator("td").last).to_have_text(wanted)
    for odd in ODD:
        window.locator("#temperature-text").fill(odd)
        expect(rows).to_have_count(10)
        told = "The model reads the last" if len(odd) > 1000 else ""
        expect(window.locator("#temperature-told")).to_contain_text(told)
        assert window.locator("#temperature-text").input_value() == odd
    window.locator("#temperature-text").fill("Once")
    window.locator("#temperature-slider").fill("0")
    window.locator("#temperature-write").click()
    texts = window.locator("#temperature-written li")
    expect(texts).to_have_count(3)
    expect(texts.last).not_to_be_empty()
    assert "NaN" not in window.locator("main").inner_text()


def test_each_step_of_attention_is_that_of_the_model(folder, window):
    window.goto(own_page(folder / "steps", "attention/steps"))
    rows = window.locator("#steps-rows tr")
    expect(rows).not_to_have_count(0, timeout=PATIENCE)
    model, tokenizer, _ = load_bundled(STORIES)
    text = "The owl baked bread. Then the owl"
    window.locator("#steps-text").fill(text)
    ids = tokenizer.encode_from_start(text)
    expect(rows).to_have_count(len(ids))
    with torch.inference_mode(), record("blocks.2.attn.*") as trace:
        _in_int8(model)(torch.tensor([ids]))
    for name, value in (("layer", 2), ("head", 3), ("asks", len(ids) - 2)):
        window.locator(f"#steps-{name}").fill(str(value))
    expect(rows).to_have_count(len(ids) - 1)
    shown = [row.locator("td").all_inner_texts() for row in rows.all()]
    for column, name in enumerate(("scores", "scaled", "weights")):
        wanted = trace[f"blocks.2.attn.{name}"][0, 3, len(ids) - 2, : len(ids) - 1].tolist()
        for row, value in zip(shown, wanted, strict=True):
            told = row[column].replace("−", "-").strip()
            if column < 2:
                assert float(told) == pytest.approx(value, abs=0.011)
            elif "<" not in told and ">" not in told:
                assert float(told.rstrip(" %")) == pytest.approx(100 * value, abs=0.06)
    for odd in ODD:
        window.locator("#steps-text").fill(odd)
        counted = min(24, len(tokenizer.encode_from_start(odd)))
        expect(rows).to_have_count(counted)
        assert window.locator("#steps-rows b").count() == 0
    assert "NaN" not in window.locator("main").inner_text()


def test_the_neighbours_of_a_token_are_those_of_its_vector(folder, window):
    window.goto(own_page(folder / "alike", "embeddings/similarity"))
    rows = window.locator("#alike-rows tr")
    expect(rows).to_have_count(12, timeout=PATIENCE)
    model, tokenizer, _ = load_bundled(STORIES)
    text = "The owl baked bread"
    window.locator("#alike-text").fill(text)
    ids = tokenizer.encode(text)
    buttons = window.locator("#alike-tokens button")
    expect(buttons).to_have_count(len(ids))
    buttons.nth(1).click()
    expect(buttons.nth(1)).to_have_attribute("aria-pressed", "true")
    table = _in_int8(model).token.weight.detach().double().numpy()
    alike = np.array([cosine(table[ids[1]], row) for row in table])
    alike[ids[1]] = -2
    wanted = [f"{value:.3f}" for value in np.sort(alike)[::-1][:12]]
    assert rows.locator("td").all_inner_texts() == wanted
    for odd in ODD:
        window.locator("#alike-text").fill(odd)
        expect(buttons).to_have_count(min(24, len(tokenizer.encode(odd))))
        expect(rows).to_have_count(12 if odd else 0)
        assert window.locator("#alike-tokens b").count() == 0


def test_a_text_is_cut_and_never_becomes_markup(folder, window):
    window.goto(own_page(folder / "cut", "tokenization/cut"))
    rows = window.locator("#cut-rows .cut")
    expect(rows).to_have_count(4)
    tokenizer = load_bundled(STORIES)[1]
    for odd in ODD:
        window.locator("#cut-text").fill(odd)
        counts = [len(odd.split()), len(odd), len(odd.encode()), len(tokenizer.encode(odd))]
        for row, count in list(zip(rows.all(), counts, strict=True))[1:]:
            expect(row.locator(".caption")).to_contain_text(f": {count:,}")
        assert window.locator("#cut-rows b").count() == 0
    window.reload()
    assert window.locator("#cut-text").input_value() == ODD[-1]
