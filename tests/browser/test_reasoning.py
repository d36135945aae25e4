"""The lesson on rewards under a hand: a model that learns from them while it is watched."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.test_tokenization import wait_for_address


@pytest.mark.slow
def test_a_model_learns_from_rewards_and_each_update_is_painted(visit):
    visit.open("reasoning?show=1&part=reinforce&rlgroup=4&rlupdates=10")
    page = visit.page
    page.get_by_role("button", name="Learn from rewards").click()
    wait_for_address(page, "rlrun", "1")
    expect(page.get_by_text("After update 10 (")).to_be_visible(timeout=120_000)
    expect(page.get_by_text("On sums for testing it was right in")).to_be_visible(timeout=30_000)
    page.get_by_label("A sum, such as 47+85").fill("11+11")
    page.get_by_label("A sum, such as 47+85").press("Enter")
    wait_for_address(page, "rlsum", "11+11")
    expect(page.get_by_text("After update 10 (")).to_be_visible()
    visit.assert_clean()


@pytest.mark.slow
def test_a_reward_for_a_form_is_learned_and_a_broken_form_is_refused(visit):
    visit.open("reasoning?show=1&part=reward_hacking&payupdates=10")
    page = visit.page
    form = page.get_by_label("The form, a regular expression")
    form.fill("(")
    form.press("Enter")
    expect(page.get_by_text("this is no regular expression")).to_be_visible()
    form.fill(".*")
    form.press("Enter")
    wait_for_address(page, "paypattern", ".*")
    page.get_by_role("button", name="Learn from this reward").click()
    expect(page.get_by_text("all texts of each group are paid the same")).to_be_visible(
        timeout=120_000
    )
    expect(page.get_by_text("your pay did not rise")).to_be_visible(timeout=60_000)
    visit.assert_clean()


@pytest.mark.slow
def test_a_search_raises_a_reward_to_its_end_and_another_start_begins_anew(visit):
    visit.open("reasoning?show=1&part=preference&prefsamples=4&prefrounds=3")
    page = visit.page
    page.get_by_role("button", name="Search for a higher reward").click()
    wait_for_address(page, "prefrun", "1")
    expect(
        page.get_by_text("After 101 endings").or_(page.get_by_text("after 101 endings"))
    ).to_be_visible(timeout=120_000)
    one = page.get_by_label("First ending")
    one.fill("Nobody ever forgot Helga Ravenwick.")
    one.press("Enter")
    wait_for_address(page, "prefone", "Nobody ever forgot Helga Ravenwick.")
    expect(page.get_by_role("button", name="Search for a higher reward")).to_be_visible()
    visit.assert_clean()


def test_a_calculator_answers_a_call(visit):
    visit.open("reasoning?show=1&part=tools&toolasked=37+add+85")
    page = visit.page
    expect(page.get_by_text("the calculator answers, 3 tokens").first).to_be_visible(timeout=60_000)
    field = page.get_by_label("A question, such as")
    field.fill("12 times")
    field.press("Enter")
    expect(page.get_by_text("a question is whole numbers")).to_be_visible()
    field.fill("12 times 3")
    field.press("Enter")
    wait_for_address(page, "toolasked", "12 times 3")
    expect(page.get_by_text("the calculator answers, 2 tokens").first).to_be_visible()
    visit.assert_clean()


def test_a_text_that_is_no_number_is_fed_back(visit):
    visit.open("reasoning?show=1&part=trust&toolasked=12+times+3")
    page = visit.page
    expect(page.get_by_text("the lying tool answers, 2 tokens").first).to_be_visible()  # 37
    page.get_by_role("radio", name="a text of yours").click()
    wait_for_address(page, "trustlie", "own")
    expect(page.get_by_text("the lying tool answers, 9 tokens").first).to_be_visible()
    text = page.get_by_label("Its text")
    text.fill("<b>é</b>")
    text.press("Enter")
    wait_for_address(page, "trustsays", "<b>é</b>")
    expect(page.get_by_text("Each becomes ⟨unknown⟩")).to_be_visible()
    page.get_by_role("radio", name="a tool that is at times wrong").click()
    wait_for_address(page, "trustmodel", "doubt")
    visit.assert_clean()


@pytest.mark.slow  # a training to its end
def test_a_student_is_trained_beside_the_bundled_ones(visit):
    visit.open("reasoning?show=1&part=distillation&distupdates=40&distway=soft2")
    page = visit.page
    page.get_by_role("button", name="Train a student").click()
    wait_for_address(page, "distrun", "1")
    trained = page.get_by_text("tokens your student lacks")
    expect(trained).to_be_visible(timeout=120_000)
    expect(page.get_by_role("button", name="Stop")).to_have_count(0, timeout=60_000)
    story = page.get_by_label("A story, or its beginning")
    story.fill("Once there was a dog")
    story.press("Control+Enter")
    expect(page.get_by_text("read up to this token")).to_be_visible()
    expect(trained).to_be_visible()
    visit.assert_clean()


def test_a_conversation_is_changed_and_its_reply_becomes_a_turn(visit):
    visit.open("reasoning?show=1&part=conversation&chatturns=2")
    page = visit.page
    turn = page.get_by_label("Turn 2", exact=True)
    turn.fill("Who has the <b>lamp</b>?")
    turn.press("Control+Enter")
    wait_for_address(page, "chattext2", "Who has the <b>lamp</b>?")
    expect(page.get_by_text("The model replies:")).to_be_visible()
    page.get_by_role("button", name="Take the reply as a turn").click()
    expect(page.get_by_text("Turn 4 is empty")).to_be_visible()
    visit.assert_clean()


def test_bits_are_answered_after_steps_and_at_once(visit):
    visit.open("reasoning?show=1&part=chain_of_thought&thinkbits=11")
    page = visit.page
    at_once = page.get_by_text("Another model, which answers at once")
    expect(at_once).to_contain_text("answers 0. That is right")
    field = page.get_by_label("Bits, up to")
    field.fill("1x")
    field.press("Enter")
    expect(page.get_by_text("Type zeros and ones")).to_be_visible()
    field.fill("1 0 0")
    field.press("Enter")
    wait_for_address(page, "thinkbits", "1 0 0")
    expect(at_once).to_contain_text("answers 1. That is right")
    visit.assert_clean()
