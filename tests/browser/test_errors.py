"""The lesson on errors under a hand: tokens of a story, a chart of calibration, a moved answer."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from tests.browser.hand import settle
from tests.browser.test_tokenization import wait_for_address


def test_a_token_is_opened_dice_are_thrown_and_a_text_that_is_no_story_says_where_truth_ends(visit):
    visit.open("errors?part=chance&model=drafts%2Ftiny-world", ".chip")
    a_token_is_opened_and_the_dice_are_thrown_again(visit.page)
    a_text_that_is_no_story_says_where_its_truth_ends(visit.page)
    visit.assert_clean()


def a_token_is_opened_and_the_dice_are_thrown_again(page):
    page.locator('.chip[data-at="0,12"]').click()
    wait_for_address(page, "token", "12")
    expect(page.get_by_text("Token 13,")).to_be_visible()
    expect(page.locator(".pairs").first).to_be_visible()
    assert page.get_by_text("Your story has").count() == 0, "a question covers the parts"
    page.get_by_role("button", name="Show me without an answer").click()
    settle(page)
    expect(page.get_by_text("the model's lack").first).to_be_visible()
    drawn = page.locator('.chip[data-at^="1,"] .text')
    before = drawn.all_inner_texts()
    page.get_by_label("Throw", exact=True).fill("2")
    page.keyboard.press("Enter")
    wait_for_address(page, "throw", "2")
    settle(page)
    assert drawn.all_inner_texts() != before
    expect(page.get_by_text(re.compile(r"In throw 2 "))).to_be_visible()


def a_text_that_is_no_story_says_where_its_truth_ends(page):
    page.get_by_label("Your story").first.fill("Once there was a <b>zzz</b>")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_text("from this token on there is no true probability")).to_be_visible()
    page.get_by_label("Your story").first.fill("")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_text("There is no story yet")).to_be_visible()
    page.get_by_role("button", name="The first story").click()
    expect(page.locator(".chip").first).to_have_text("Beyond")


def test_calibration_follows_the_model_and_the_temperature(visit):
    visit.open(
        "errors?part=calibration&show=1&sure_model=errors%2Fby-heart&heat=1.4", ".js-plotly-plot"
    )
    page = visit.page
    expect(page.get_by_text("At temperature 1.4 the")).to_be_visible()
    page.get_by_text("the true probability", exact=True).first.click()
    wait_for_address(page, "against", "true")
    expect(page.get_by_text("luck is out of it")).to_be_visible()
    expect(page.locator(".js-plotly-plot")).to_have_count(1)
    visit.assert_clean()


def test_the_learners_sentence_stands_before_the_question(visit):
    visit.open("errors?part=asked&show=1", ".js-plotly-plot")
    page = visit.page
    page.get_by_label("Your sentence before the question").fill("Nobody had anything.")
    page.keyboard.press("Enter")
    settle(page)
    expect(page.get_by_text("With your own sentence before the")).to_be_visible()
    page.get_by_label("Your fact").fill("<b>Anna</b> found a big blue kettle under the chest.")
    page.keyboard.press("Enter")
    settle(page)
    expect(page.get_by_text(re.compile(r"likeliest person .*Anna"))).to_be_visible()
    visit.assert_clean()
