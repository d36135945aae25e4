"""Under a hand: rounds of guesses are stepped and pointed at."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from tests.browser.test_tokenization import wait_for_address


def test_a_cell_leads_to_the_chapter_of_its_idea_whose_rounds_are_stepped_and_opened(visit):
    visit.open("efficiency?part=systems&show=1", ".cells td")
    page = visit.page
    page.locator('.cells td[data-at="5.4"]').click()
    wait_for_address(page, "whosystem", "llamacpp")
    page.get_by_role("link", name="See it: Guess and check").click()
    expect(page.get_by_label("The beginning of a story")).to_be_visible()
    page.get_by_role("radio", name="counts", exact=True).click()
    wait_for_address(page, "draft", "counts")
    visit.settle()
    rounds_are_stepped_and_a_token_is_opened_under_the_pointer(page)
    where_nothing_is_guessed_the_legend_speaks_of_no_rejection(page)
    visit.assert_clean()


def rounds_are_stepped_and_a_token_is_opened_under_the_pointer(page):
    line, table = page.locator(".guess-line"), page.locator(".guess-table")
    expect(line).to_contain_text("Round 1.")
    expect(table).to_be_hidden()
    guesses = page.locator(".guess-row").nth(1).locator(".guess-chip")
    expect(page.locator(".guess-chip.decided")).to_have_count(0)
    page.get_by_label("one step on").click()
    wait_for_address(page, "guessstep", "1")
    expect(guesses.first).to_have_class(re.compile("decided"))
    expect(table).to_be_visible()
    expect(table.locator(".sum .p")).to_have_text("100 %")
    told = page.locator(".guess-told").inner_text()
    page.keyboard.press("End")
    last = page.locator(".guess-chip.now")
    expect(last).to_have_attribute("data-verdict", "drawn")
    guesses.first.hover()
    expect(page.locator(".guess-legend")).to_contain_text("comes as an accepted guess")
    expect(table.locator(".guess-mark").first).to_be_visible()
    expect(page.locator(".guess-told")).to_contain_text(told)
    expect(guesses.first).to_have_class(re.compile("open"))


def where_nothing_is_guessed_the_legend_speaks_of_no_rejection(page):
    page.get_by_role("radio", name="the text itself", exact=True).click()
    box = page.get_by_label("The beginning of a story")
    box.fill("Once")
    box.press("Control+Enter")
    wait_for_address(page, "guesstext", "Once")
    page.locator(".scrub").first.press("Home")
    expect(page.locator(".guess-told")).to_contain_text("There was no guess")
    expect(page.locator(".guess-pair:visible")).to_have_text(["is drawn from p"])
    expect(page.locator(".guess-mark")).to_have_count(0)
