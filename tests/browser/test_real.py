"""The chapters inside a real model by hand, on their records."""

from __future__ import annotations

from playwright.sync_api import expect

from llmviz.course.document.marks import unmarked
from llmviz.course.lessons.real.carrier import words as carrier
from llmviz.course.lessons.real.knows import words as knows
from llmviz.course.lessons.real.travels import words as travels


def test_a_wrong_guess_is_told_what_is_right_and_nobody_is_asked_again(window):
    page = window.page
    window.open("real?part=knows")
    page.get_by_text("Canberra", exact=True).click()
    expect(page.get_by_text(unmarked(knows.ask_book)[:40])).to_be_visible()
    expect(page.get_by_text("because it goes on as texts do")).to_be_visible()
    page.get_by_role("radio", name="alone", exact=True).click()
    expect(page.get_by_text("Without an example it is right")).to_be_visible()
    expect(page.get_by_text("Guess again")).to_be_visible()
    window.assert_clean()


def test_a_layer_is_dragged_and_a_look_leads_to_other_sentences(window):
    page = window.page
    window.open("real?part=travels")
    handle = page.get_by_role("slider").first
    handle.focus()
    for _ in range(5):
        page.keyboard.press("ArrowLeft")
    page.get_by_role("button", name="That is my guess").click()
    expect(page.get_by_text("The answer does not seep over")).to_be_visible()
    page.get_by_role("link", name="Opposites").or_(page.get_by_text("Opposites")).first.click()
    page.wait_for_url("**travelsown=*hot*")
    expect(page.get_by_text("cold").first).to_be_visible()
    assert travels.looks
    window.assert_clean()


def test_a_head_is_opened_by_hand_on_a_phone(window):
    page = window.page
    window.dress("dark", 390)
    window.open("real?part=carrier&show=1")
    expect(page.get_by_text("Without head 23.4").first).to_be_visible()
    page.get_by_text("Head 0.4", exact=True).click()
    expect(page.get_by_text("Without head 0.4").first).to_be_visible()
    page.get_by_text("Back to France", exact=True).click()  # which chooses no cell any more
    expect(page.get_by_text("Without head 23.4").first).to_be_visible()
    window.settle()
    assert not page.locator("[data-testid=stException]").count()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert carrier.looks
    window.assert_clean()
