"""The chapter "Steering" under a hand: a choice is measured, and a cell of the grid is read out."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.hand import settle
from tests.browser.test_tokenization import wait_for_address


@pytest.mark.slow  # long work behind the page
def test_another_beginning_is_written_and_measured_behind_the_page(visit):
    visit.open("discoveries?part=steering&show=1", ".chip")
    page = visit.page
    expect(page.get_by_role("button", name="Write and measure")).to_have_count(0)
    page.get_by_label("How the story begins").fill("Once <b>upon</b> a time")
    page.keyboard.press("Control+Enter")
    page.get_by_role("button", name="Write and measure").click()
    wait_for_address(page, "steerrun", "1")
    expect(page.get_by_text("The grammar cannot have written this beginning")).to_be_visible()
    assert page.locator("b", has_text="upon").count() == 0
    page.locator('td[data-at="2.5"]').click()
    wait_for_address(page, "steercell", "2.5")
    settle(page)
    visit.assert_clean()
