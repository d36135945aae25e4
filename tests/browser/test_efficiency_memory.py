"""The memory of a step and the cache under a hand: moments are kept, rows open, work begins."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.browser.test_tokenization import wait_for_address


def test_moments_are_pointed_at_stepped_through_and_kept_and_ways_tried_in_the_background(visit):
    visit.open("efficiency?part=memory&memorymodel=words-gpt&show=1", "canvas.timeline")
    page = visit.page
    told = page.locator(".at")
    peak = told.inner_text()
    assert "are alive" in peak
    canvas = page.locator("canvas.timeline")
    canvas.hover(position={"x": 64, "y": 150})
    expect(told).to_contain_text("Before the first operation")
    expect(page.locator(".alive .tensor").first).to_contain_text("token.weight")
    canvas.focus()
    page.keyboard.press("ArrowRight")
    expect(told).to_contain_text("forward, embeddings: after “look-up”")
    page.keyboard.press("Enter")
    wait_for_address(page, "memorymoment", "1")
    page.keyboard.press("End")
    expect(told).to_contain_text("update")

    page.get_by_role("button", name="Try all ways").click()
    wait_for_address(page, "memoryways", "1")
    end = page.get_by_text("And what it learns is the same in all of them").or_(
        page.get_by_role("button", name="Stop")
    )
    expect(end.first).to_be_visible()
    expect(page.get_by_text("keep everything")).not_to_have_count(0)
    visit.assert_clean()


def test_a_row_of_the_cache_opens_its_keys(visit):
    visit.open("efficiency?part=cache&cachemodel=words-gpt&cachelength=6&show=1", ".cells td")
    page = visit.page
    expect(page.get_by_text("keys of layer 0, head 0").first).to_be_visible()
    page.locator(".cells tr").filter(has_text="layer 0").nth(1).locator("td").first.click()
    wait_for_address(page, "cachehead", "1")
    expect(page.get_by_text("keys of layer 0, head 1").first).to_be_visible()
    visit.assert_clean()
