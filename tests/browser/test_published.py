"""A published model under a hand: typed, looked at, imported, drawn with folded layers, deleted."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import PATIENCE
from tests.published_models import make_gpt2


@pytest.fixture(scope="module")
def address(small_url):
    return small_url


@pytest.mark.slow  # an import from a hub
def test_a_model_of_a_hub_is_imported_drawn_and_deleted(visit, hub, runs_folder, tmp_path):
    hub.folders["somebody/deep"] = make_gpt2(tmp_path / "deep", layers=12, heads=12, width=48)
    page = visit.page
    visit.open("models")
    page.get_by_label("A folder on this machine").fill("somebody/deep")
    page.get_by_role("button", name="Look at it").click()
    page.get_by_role("button", name="Import", exact=True).click(timeout=PATIENCE)
    expect(page.get_by_text("deep is imported.")).to_be_visible(timeout=PATIENCE)
    visit.settle()
    visit.open("?model=run:deep")
    page.wait_for_selector(".band", state="attached")
    open_layer = page.locator(".title.layer.wide")
    expect(open_layer).to_have_count(1)
    expect(open_layer.locator(".pips.strip .pip:visible")).to_have_count(12)
    expect(page.locator(".title.layer.folded")).to_have_count(11)
    assert page.locator(".scroll").evaluate("s => s.scrollWidth <= s.clientWidth + 1")
    first = open_layer.locator(".name").inner_text()
    page.locator(".opener:not([hidden])").nth(3).click()
    expect(open_layer.locator(".name")).not_to_have_text(first)
    visit.settle()
    visit.open("models")
    page.get_by_role("button", name="Delete …").click()
    assert (runs_folder / "deep").is_dir()
    page.get_by_role("button", name="Delete it").click()
    expect(page.get_by_text("deep is deleted.")).to_be_visible()
    assert not (runs_folder / "deep").exists()
    visit.assert_clean()
