"""The window and recurrent models under a hand: a name typed, a tree opened, a film scrubbed."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import opener
from tests.browser.test_tokenization import wait_for_address


@pytest.fixture
def opened(visit):
    """What opens a chapter of the lesson."""
    return opener(visit, "history", "show=1&")


def test_a_typed_name_goes_through_the_window_and_a_row_opens(visit, opened):
    page = opened("part=mlp", ".cells")
    box = page.get_by_role("textbox", name="A name")
    box.fill("zoe")
    box.press("Enter")
    wait_for_address(page, "name", "zoe")
    visit.settle()
    expect(page.locator(".cells td")).to_have_count(4 * 8)
    page.locator('td[data-at="1.7"]').click()
    wait_for_address(page, "slideat", "1")
    expect(page.get_by_text("In the marked line it has read")).to_be_visible()
    visit.assert_clean()


def test_a_node_of_the_tree_opens_by_click_and_by_key(visit, opened):
    page = opened("part=mlp&name=olivia", ".tree .node")
    expect(page.locator(".tree .node")).to_have_count(15)
    page.locator('.node[data-at="1.3"]').click()
    wait_for_address(page, "node", "1.3")
    expect(page.get_by_text("What does the node ia know?")).to_be_visible()
    page.locator('.node[data-at="1.3"]').press("ArrowUp")
    page.keyboard.press("Enter")
    wait_for_address(page, "node", "2.1")
    expect(page.get_by_text("What does the node ivia know?")).to_be_visible()
    visit.assert_clean()


def test_a_number_of_the_state_says_its_arithmetic(visit, opened):
    page = opened("part=recurrent&cell=rnn&name=ann&state=hidden.2.5", ".detail.kept")
    detail = page.locator(".detail.kept")
    expect(detail).to_contain_text("tanh(")
    page.get_by_role("radio", name="LSTM", exact=True).click()
    wait_for_address(page, "cell", "lstm")
    visit.settle()
    expect(page.locator(".matrix .label", has_text="forget gate f").first).to_be_visible()
    visit.assert_clean()


def test_an_own_string_goes_through_all_models(visit, opened):
    visit.dress("dark", 390)
    page = opened("part=memory&string=qabc", ".cells")
    expect(page.locator(".cells tr")).to_have_count(7)
    page.locator('td[data-at="5.3"]').click()
    wait_for_address(page, "asked", "gpt.3")
    expect(page.get_by_text("GPT after letter 4")).to_be_visible()
    main = page.locator("[data-testid=stMain]")
    for width in (390, 1440):
        visit.dress("dark", width)
        visit.settle()
        assert main.evaluate("node => node.scrollWidth - node.clientWidth") <= 0
    visit.assert_clean()
