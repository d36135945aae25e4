"""Many machines under a hand: another way, other numbers, and the figures follow."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.browser.conftest import opener
from tests.browser.test_tokenization import wait_for_address

TIMES = "When each process works"


def test_ways_are_chosen_and_a_model_is_put_on_paper(visit):
    page = opener(visit, "efficiency", "show=1&part=parallel&")("split=zero2&processes=2", "h2")
    expect(page.get_by_role("heading", name=TIMES)).to_be_visible()
    expect(page.get_by_text("as stage 1, but")).to_be_visible()
    expect(page.locator(".js-plotly-plot")).to_have_count(3)
    page.get_by_role("radio", name="Layers (GPipe)").click()
    wait_for_address(page, "split", "gpipe")
    expect(page.get_by_text("Now it is")).to_be_visible()
    page.get_by_role("radio", name="8", exact=True).click()
    wait_for_address(page, "micro", "8")
    expect(page.get_by_text("p = 2 processes and m = 8 micro-batches")).to_be_visible()
    box = page.get_by_label("Parameters, billions")
    box.fill("7")
    box.press("Enter")
    wait_for_address(page, "fleetbillions", "7.0")
    expect(page.get_by_text("what a GPU must hold fits into it")).to_be_visible()
    visit.assert_clean()
