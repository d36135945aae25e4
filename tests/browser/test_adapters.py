"""Adapters under a hand: cells open, ranks follow the slider."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.test_tokenization import wait_for_address


@pytest.mark.slow
def test_the_rank_is_in_the_address_and_two_trainings_are_begun_and_stopped(visit):
    visit.open("finetuning?show=1&part=lora&updates=40", ".formula-line")
    page = visit.page
    expect(page.locator(".formula-line").first).to_contain_text("+")  # W in effect is open
    expect(page.get_by_text("the strips as they were trained")).to_be_visible()
    page.get_by_role("slider", name="Patterns that are shown").press("ArrowLeft")
    expect(page.get_by_text("With 7 of its patterns, 9")).to_be_visible()
    wait_for_address(page, "keptrank", "7")

    page.get_by_role("button", name="Train both").click()
    wait_for_address(page, "race", "1")
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_text("The training was stopped.")).to_be_visible()
    page.get_by_role("button", name="Train again").click()
    page.get_by_role("button", name="Stop").click()  # it has begun once more
    expect(page.get_by_role("button", name="Train again")).to_be_visible()
    page.get_by_role("slider", name="Rank r").press("ArrowRight")  # of another race
    wait_for_address(page, "rank", "9")
    expect(page.get_by_role("button", name="Train both")).to_be_visible()
    visit.assert_clean()


@pytest.mark.slow
def test_the_learners_own_examples_are_answered_or_refused(visit):
    visit.open("finetuning?show=1&part=fewshot&ownrule=apples red, hammer blue, pears red, plums")
    page = visit.page
    expect(page.get_by_text("red for fruits, blue for tools")).to_be_visible()
    box = page.get_by_role("textbox", name="Your own prompt")
    box.fill("apples red, xylograph")
    box.press("Enter")
    expect(page.get_by_text("not 'xylograph'")).to_be_visible()
    visit.assert_clean()
