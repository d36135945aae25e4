"""Parts of the site's chapters that read a visitor's own text, in a real browser."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from playwright.sync_api import expect

from llmviz.course.site.own import STORIES
from llmviz.pretrained import load_bundled
from llmviz.sampling import sampling_steps
from tests.browser.conftest import PATIENCE
from tests.browser.test_site import _in_int8, window
from tests.browser.test_site_training import own_page

__all__ = ["window"]
ODD = ["", "🙂", "<b>bold</b> & co", "word " * 20_000]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return tmp_path_factory.mktemp("own")


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
