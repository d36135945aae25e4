"""Preferences under a hand: an adapter is trained and then used, on a small model."""

import pytest
from playwright.sync_api import expect


@pytest.fixture(scope="module")
def address(small_url):
    return small_url


@pytest.mark.slow  # a training
def test_an_adapter_learns_from_pairs_and_ends_the_learners_story(visit):
    visit.open("finetuning?show=1&part=preferences&rule=shorter&preferupdates=8")
    page = visit.page
    expect(page.get_by_text("Train the model above, and its ending appears here.")).to_be_visible()
    page.get_by_role("button", name="Train on pairs").click()
    expect(page.get_by_text("After 8 updates, the better one has gained more")).to_be_visible()
    expect(page.get_by_text("Train the model above, and its ending appears here.")).to_have_count(0)
    expect(page.get_by_text("π is the model after the training")).to_be_visible()
    visit.assert_clean()
