"""The chapter on quantization under a hand: a cell, another grid, a measurement."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from tests.browser.test_tokenization import wait_for_address


def test_a_cell_opens_its_arithmetic_and_the_bits_change_it(visit):
    visit.open("efficiency?part=quantization&qgroup=8&qper=group&show=1", ".cells")
    page = visit.page
    cell = page.locator('.cells td[data-at="3.1"]')
    cell.hover()
    expect(page.locator(".cells-told")).to_contain_text("the whole number nearest to")
    cell.click()
    page.wait_for_url(re.compile("qcell=rounded"))
    page.get_by_role("radio", name="asymmetric").first.click()
    wait_for_address(page, "qform", "asymmetric")
    expect(page.locator(".cells th.row", has_text="zero point")).to_be_visible()
    visit.assert_clean()
