"""The lesson "Inside the transformer" under a hand: every chapter opens, cells are clicked."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from tests.browser.hand import motion, settle
from tests.browser.test_tokenization import wait_for_address


def cell(page, row: int, column: int):
    """A cell of the chapter's grid."""
    return page.locator(f'td[data-at="{row}.{column}"]')


def test_cells_of_the_lens_and_the_ledger_open_to_their_arithmetic_and_are_in_the_link(visit):
    visit.open("transformer?part=stream&show=1&readcell=p.0.0&sharecell=share.0.0")
    page = visit.page
    cell(page, 1, 2).hover()
    expect(page.locator(".cells-told")).to_contain_text("after layer 0, ·day: says")
    cell(page, 1, 2).click()
    wait_for_address(page, "point", "1.2")
    expect(page.get_by_text("The most probable tokens after layer 0")).to_be_visible()
    lens, ledger = page.locator(".detail").nth(0), page.locator(".detail").nth(1)
    expect(lens).to_contain_text("exp(")
    expect(ledger).to_contain_text("×")
    bar = page.locator(".js-plotly-plot").nth(0).locator(".barlayer .point path").nth(1)
    bar.click(force=True)
    wait_for_address(page, "share", "position")
    expect(page.get_by_text("From the vector of position")).to_be_visible()
    cell(page, 1, 2).press("ArrowDown")
    page.keyboard.press("Enter")
    wait_for_address(page, "point", "2.2")
    visit.assert_clean()


def test_who_clicks_the_row_that_is_right_has_answered(visit):
    visit.open("transformer?part=stream")
    page = visit.page
    right = cell(page, 4, 16)
    right.click()
    expect(page.get_by_text("You said after layer 3: output")).to_be_visible()
    expect(right).to_have_attribute("aria-selected", "true")
    visit.assert_clean()


def test_the_bill_is_that_of_the_token_in_its_list_wherever_a_look_leads(visit):
    visit.open("transformer?part=stream&show=1")
    page = visit.page
    for look in ("the candle", "the first book", "the candle", "the first book"):
        page.locator("button.look", has_text=look).click()
        settle(page)
        listed = page.get_by_role("combobox", name="Logit of", exact=True).input_value()
        expect(page.get_by_text(f"the logit of {listed} is")).to_be_visible()
        assert "credit=" not in page.url  # nobody chose one
    visit.assert_clean()


def test_a_click_in_the_last_column_is_the_guess_and_a_patched_cell_opens_what_was_swapped(visit):
    visit.open("transformer?part=patching")
    page = visit.page
    cell(page, 1, 2).click()
    expect(page.get_by_text("You said before layer 1")).to_be_visible()
    expect(page.get_by_text("Heads and feed-forward").first).to_be_visible()
    cell(page, 0, 1).first.click()
    wait_for_address(page, "site", "stream.0.1")
    expect(page.get_by_text("The answer moves 0 % of the way")).to_be_visible()
    visit.assert_clean()


def test_a_translation_is_stepped_through_without_the_server(visit):
    visit.open("transformer?part=halves")
    page = visit.page
    decoder = page.locator(".half.decoder")
    expect(page.locator(".halves-caption")).to_contain_text("The encoder reads all 10 words")
    expect(decoder.locator(".half-chip")).to_have_count(0)
    page.get_by_label("one step on").click()
    expect(decoder.locator(".half-chip")).to_have_count(1)
    expect(decoder.locator(".said-line")).to_have_count(5)
    page.get_by_label("one step on").click()
    expect(decoder.locator(".half-chip")).to_have_count(2)
    expect(decoder.locator(".half-asks")).to_contain_text("mugate sees itself")
    wait_for_address(page, "halfstep", "2")
    page.locator(".half.encoder .half-chip").first.hover()
    expect(page.locator(".half.encoder .half-asks")).to_contain_text("rarely looks at")
    page.mouse.move(2, 2)
    expect(page.locator(".half.encoder .half-asks")).not_to_contain_text("rarely looks at")
    page.locator(".half.encoder .half-chip").first.focus()
    expect(page.locator(".half.encoder .half-asks")).to_contain_text("rarely looks at")
    page.locator(".halves-head").first.click()
    wait_for_address(page, "halfhead", "0")
    page.get_by_label("one step back").click()
    expect(decoder.locator(".half-chip")).to_have_count(1)
    visit.assert_clean()


def test_a_click_hides_a_word(visit):
    visit.open("transformer?part=masked&show=1&text=Once+Anna+and+Samir+met+at+the+market.+Then")
    page = visit.page
    page.locator('.chip[data-at="0,7"]').click()
    wait_for_address(page, "hide", "7")
    expect(page.get_by_text("What do the models predict in place of market?")).to_be_visible()
    page.locator('.chip[data-at="1,1"]').click()
    wait_for_address(page, "hide", "1")
    expect(page.get_by_text("What do the models predict in place of Anna?")).to_be_visible()
    visit.assert_clean()


STAGES = ["x", "norm", "Q K V", "scores", "weights", "W_O", "+", "norm", "up", "ReLU", "down", "+"]


def stage(page, number: int):
    """The box of a stage in the diagram of a layer."""
    return page.locator(f'button[data-stage="{number}"]')


def the_hand_walks_without_the_server_and_the_link_follows(page):
    stage(page, 0).focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(stage(page, 2)).to_have_attribute("aria-current", "step")
    expect(page.locator(".stage-title")).to_have_text("Queries, keys and values")
    wait_for_address(page, "stage", "qkv")
    with motion(page):
        page.get_by_role("button", name="play").click()
        expect(stage(page, 4)).to_have_attribute("aria-current", "step", timeout=15_000)
        page.get_by_role("button", name="pause").click()


def test_every_stage_opens_and_its_last_cell_says_its_arithmetic(visit):
    """Of a small layer, and then of a trained one."""
    visit.open("transformer?part=block&show=1")
    page = visit.page
    stage(page, 0).wait_for()
    the_hand_walks_without_the_server_and_the_link_follows(page)
    every_stage_opens(page)
    page.get_by_role("radio", name="A trained model").click()
    wait_for_address(page, "of", "model")
    visit.settle()
    every_stage_opens(page)
    visit.assert_clean()


def every_stage_opens(page):
    assert page.locator("button[data-stage]").count() == len(STAGES)
    detail = page.locator(".detail")
    for number in range(len(STAGES)):
        stage(page, number).click()
        expect(stage(page, number)).to_have_attribute("aria-current", "step")
        result = page.locator("canvas.heat").last
        result.focus()
        page.keyboard.press("End")
        expect(detail.locator(".sum")).to_be_visible()
        if number:
            expect(detail.locator(".sum")).to_contain_text(re.compile("[=→]"))
        result.blur()


def test_a_sentence_that_is_typed_under_the_map_is_what_the_map_shows(visit):
    page = visit.page
    visit.open("transformer?part=patching&show=1", ".cells")
    page.get_by_text("Your text and model").first.click()
    box = page.get_by_label("The sentence whose vectors are put in")
    box.fill("One day Anna found a book. Samir found a candle. The candle went to")
    box.press("Enter")
    page.wait_for_url(re.compile("went"))
    expect(page.locator(".cells th.column", has_text="went").first).to_be_visible()
