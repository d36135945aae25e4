"""The lesson on rewards under a hand: a model that learns from them while it is watched."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from llmviz.lessons.reasoning import LESSON
from tests.browser.test_tokenization import wait_for_address


def test_a_model_learns_from_rewards_and_each_update_is_painted(visit):
    visit.open("reasoning?show=1&part=reinforce&rlgroup=4&rlupdates=10")
    page = visit.page
    page.get_by_role("button", name="Learn from rewards").click()
    wait_for_address(page, "rlrun", "1")
    expect(page.get_by_text("After update 10 (")).to_be_visible(timeout=120_000)
    expect(page.get_by_text("sums for testing, 16 answers each:")).to_be_visible(timeout=30_000)
    page.get_by_label("A sum, such as 47+85").fill("11+11")
    page.get_by_label("A sum, such as 47+85").press("Enter")
    wait_for_address(page, "rlsum", "11+11")
    expect(page.get_by_text("After update 10 (")).to_be_visible()
    visit.assert_clean()


def test_a_reward_for_a_form_is_learned_and_a_broken_form_is_refused(visit):
    visit.open("reasoning?show=1&part=gamed&payupdates=10")
    page = visit.page
    form = page.get_by_label("The form, a regular expression")
    form.fill("(")
    form.press("Enter")
    expect(page.get_by_text("this is no regular expression")).to_be_visible()
    form.fill(".*")
    form.press("Enter")
    wait_for_address(page, "paypattern", ".*")
    page.get_by_role("button", name="Learn from this reward").click()
    expect(page.get_by_text("all rewards of each group are equal")).to_be_visible(timeout=120_000)
    expect(page.get_by_text("the reward did not rise")).to_be_visible(timeout=60_000)
    visit.assert_clean()


@pytest.mark.skipif(
    "conversation" not in LESSON.names, reason="the chapter is listed once its record is made"
)
def test_a_conversation_is_changed_and_its_reply_becomes_a_turn(visit):
    visit.open("reasoning?show=1&part=conversation&chatturns=2")
    page = visit.page
    turn = page.get_by_label("Turn 2", exact=True)
    turn.fill("Who has the <b>lamp</b>?")
    turn.press("Control+Enter")
    wait_for_address(page, "chattext2", "Who has the <b>lamp</b>?")
    expect(page.get_by_text("The model replies:")).to_be_visible()
    page.get_by_role("button", name="Take the reply as a turn").click()
    wait_for_address(page, "chatturns", "4")
    expect(page.get_by_text("Turn 4 is empty")).to_be_visible()
    visit.assert_clean()
