"""The lesson on discoveries under a hand: numbers on a circle, and a model that is trained."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from llmviz.course.lessons.discoveries.grokking.grokking_record import film
from tests.browser.hand import drag, let_go


@pytest.mark.slow  # a training
def test_numbers_come_to_lie_on_a_circle_and_a_small_model_learns_sums(visit):
    visit.open("discoveries?part=grokking&show=1", "canvas.map")
    page = visit.page
    last = film().last.step
    expect(page.get_by_text(f"Step {last:,}: 100.0 %")).to_be_visible()
    player = page.locator(".lv:has(canvas.map)")  # the matrices below have one, too
    drag(player, "step", 0)
    expect(page.get_by_text(re.compile("^Step 1: .* of the new ones"))).to_be_visible()
    let_go(player, "step")
    expect(page.get_by_text("At step 1 the 4 strongest of 29")).to_be_visible()
    known = page.get_by_text("of the shown sums right at step")
    page.get_by_role("button", name="Let it learn").click()
    learned = page.get_by_text(re.compile(r"^Step [\d,]+: it gets 100\.0"))
    expect(learned).to_be_visible(timeout=90_000)
    page.get_by_role("button", name="Stop").click()
    expect(known.last).to_be_visible(timeout=30_000)
    visit.assert_clean()


@pytest.mark.slow
def test_a_head_is_guessed_by_a_click_and_a_model_of_the_learners_comes_to_copy(visit):
    visit.open("discoveries?part=induction", ".lines.letters")
    page = visit.page
    clicked = page.locator(".head").nth(1).locator(".word").nth(4)
    page.locator(".head").first.locator(".word").nth(2).click()  # tells nothing
    clicked.click()
    expect(page.get_by_text("of its weight on the t behind the earlier z")).to_be_visible()
    expect(page.get_by_text("Right: ").first).to_be_visible()
    player = page.locator(".lv:has(canvas.map)")
    expect(page.get_by_text("nats at step 1,500")).to_be_visible()
    drag(player, "step", 0)
    expect(page.get_by_text("Step 0. Loss on letters")).to_be_visible()
    let_go(player, "step")
    expect(page.get_by_text("nats at step 0")).to_be_visible()
    field = page.get_by_label("Letters a to z")
    field.fill("abcdeab1")
    field.press("Enter")
    expect(page.get_by_text("only the letters a to z can be read")).to_be_visible()
    field.fill("abcdeab")
    field.press("Enter")
    expect(page.get_by_text("on the c behind the earlier b")).to_be_visible()
    page.get_by_role("button", name="Let it learn").click()
    expect(page.get_by_text("of 1,500: the loss on letters that repeat")).to_be_visible(
        timeout=90_000
    )
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_text("The largest weight of a head")).to_be_visible(timeout=30_000)
    visit.assert_clean()
