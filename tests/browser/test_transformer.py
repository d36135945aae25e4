"""The lesson "Inside the transformer" under a hand: every chapter opens, cells are clicked."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from llmviz.lessons.transformer import LESSON
from tests.browser.conftest import make_visit
from tests.browser.test_tokenization import wait_for_address


@pytest.fixture(scope="module")
def visit(browser, app_url):
    """One window for the whole file, so that the app's scripts load once."""
    window = make_visit(browser, app_url)
    yield window
    window.page.context.close()


@pytest.mark.parametrize("part", [chapter.key for chapter in LESSON.chapters])
def test_every_chapter_opens(visit, part):
    visit.open(f"transformer?part={part}")
    visit.page.locator("h2").first.wait_for()
    visit.settle()
    visit.assert_clean()


def cell(page, row: int, column: int):
    """A cell of the chapter's grid."""
    return page.locator(f'td[data-at="{row}.{column}"]')


def test_a_cell_of_the_lens_opens_and_is_in_the_link(visit):
    visit.open("transformer?part=stream")
    page = visit.page
    cell(page, 1, 2).hover()
    expect(page.locator(".cells-told")).to_contain_text("after layer 0, ·Anna: says")
    cell(page, 1, 2).click()
    wait_for_address(page, "point", "1.2")
    expect(page.get_by_text("The ten best after layer 0")).to_be_visible()
    cell(page, 1, 2).press("ArrowDown")
    page.keyboard.press("Enter")
    wait_for_address(page, "point", "2.2")
    visit.assert_clean()


def test_a_patched_cell_opens_what_was_swapped_and_what_came_out(visit):
    visit.open("transformer?part=patching")
    page = visit.page
    cell(page, 0, 0).click()
    wait_for_address(page, "site", "stream.0.19")
    expect(page.get_by_text("Both vectors are the same")).to_be_visible()
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
    page.locator(".halves-head").first.click()
    wait_for_address(page, "halfhead", "0")
    page.get_by_label("one step back").click()
    expect(decoder.locator(".half-chip")).to_have_count(1)
    visit.assert_clean()


def test_a_click_hides_a_word(visit):
    visit.open("transformer?part=masked")
    page = visit.page
    page.locator('.chip[data-at="0,7"]').click()
    wait_for_address(page, "hide", "7")
    expect(page.get_by_text("What stands in the place of market?")).to_be_visible()
    page.locator('.chip[data-at="1,1"]').click()
    wait_for_address(page, "hide", "1")
    expect(page.get_by_text("What stands in the place of Anna?")).to_be_visible()
    visit.assert_clean()
