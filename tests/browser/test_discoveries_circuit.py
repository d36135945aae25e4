"""The chapter "A circuit, edge by edge" under a hand: the slider, and a tested hypothesis."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.test_tokenization import wait_for_address

PROMPTS = "prompt=Once+Anna+had+a+key.+It&donor=Once+Anna+had+a+dog.+It+is&answer=a&other=e"


@pytest.fixture(scope="module")
def address(small_url: str) -> str:
    """The app whose models are small: all edges are patched at once."""
    return small_url


@pytest.mark.slow  # long work behind the page
def test_edges_are_pruned_by_the_slider_and_a_hypothesis_is_tested(visit):
    visit.open(
        f"discoveries?part=circuit&show=1&{PROMPTS}&edgeskept=1&hypothesis=none",
        "[data-testid=stSlider]",
    )
    page = visit.page
    expect(page.get_by_text("They are aligned at the end")).to_be_visible()
    expect(page.get_by_text("With the strongest edge alone")).to_be_visible()
    slider = page.get_by_role("slider", name="Edges that stay")
    slider.focus()
    page.keyboard.press("ArrowRight")
    wait_for_address(page, "edgeskept", "2")
    expect(page.get_by_text("With the 2 strongest edges")).to_be_visible()
    page.keyboard.press("Home")
    wait_for_address(page, "edgeskept", "0")
    expect(page.get_by_text("No edge stays. So the logits")).to_be_visible()
    expect(page.get_by_text("You chose no edge.")).to_be_visible()
    page.locator('td[data-at="0.0"]').click()
    wait_for_address(page, "hypothesis", "embed>head.0.0")
    expect(page.get_by_text("With your edge alone")).to_be_visible()
    expect(page.get_by_text("No path of your edges")).to_be_visible()
    page.locator('td[data-at="1.0"]').click()  # from a head to itself there is no edge
    visit.settle()
    expect(page.get_by_text("With your edge alone")).to_be_visible()
    visit.assert_clean()
