"""The chapter "Features" under a hand: a feature is opened, and features of a model are learned."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser.hand import settle
from tests.browser.test_tokenization import wait_for_address


@pytest.mark.slow  # a training
def test_features_of_a_small_model_are_learned_behind_the_page(visit):
    visit.open("discoveries?part=features&show=1&featmodel=words-gpt&featcount=96", ".chip")
    page = visit.page
    page.get_by_label("Feature", exact=True).first.fill("7")
    page.keyboard.press("Enter")
    wait_for_address(page, "feature", "7")
    expect(page.get_by_text(re.compile(r"Feature 7 (is|was) on at")).first).to_be_visible()
    page.get_by_label("Your text").fill("<b>A lamp</b> stood there.")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_text(re.compile(r"is on at (\d+|none) of \d+ tokens")).first).to_be_visible()
    assert page.locator("b", has_text="A lamp").count() == 0
    page.get_by_role("button", name="Learn them").click()
    wait_for_address(page, "featown", "1")
    expect(page.get_by_text(re.compile(r"Learned from [\d,]+ tokens"))).to_be_visible()
    expect(page.get_by_text(re.compile(r"of 96 features never came on at"))).to_be_visible()
    settle(page)
    visit.assert_clean()
