"""Under a hand: a name is typed, a series drawn, a training scrubbed, fields opened."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.browser.hand import drag, frames, let_go, motion
from tests.browser.test_tokenization import wait_for_address

PAGE = "history"


def test_a_name_is_typed_and_scored_by_nine(lesson):
    page = lesson("part=all&show=1", "table.cells")
    box = page.get_by_label("A name", exact=True)
    box.fill("mila")
    box.press("Enter")
    wait_for_address(page, "name", "mila")
    expect(page.locator("th.column")).to_have_count(6)
    expect(page.locator("th.row")).to_have_count(9)
    page.locator('td[data-at="8.1"]').hover()
    expect(page.locator(".cells-told")).to_contain_text("GPT gave i a probability of")


def test_a_series_is_drawn_and_fitted_anew(lesson):
    page = lesson("part=series&series=drawn&hold=12", "canvas.series")
    canvas = page.locator("canvas.series")
    error = page.locator(".error")
    expect(error).to_contain_text("Mean squared error of the fitted coefficients")
    before = error.inner_text()
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    left, width, top, height = box["x"] + 70, box["width"] - 100, box["y"] + 30, box["height"] - 90
    page.mouse.move(left, top + height / 2)
    page.mouse.down()
    for k in range(1, 21):
        page.mouse.move(left + width * k / 20, top + height * (0.2 if k % 2 else 0.8))
    page.mouse.up()
    page.wait_for_function("() => location.search.includes('drawn=')")
    expect(error).to_contain_text("Mean squared error of the fitted coefficients")
    expect(error).not_to_have_text(before)
    fitted = error.inner_text()
    drag(page, "coefficient 1", 260)
    expect(error).to_contain_text("The fitted coefficients have the lowest")
    let_go(page, "coefficient 1")
    page.wait_for_function("() => location.search.includes('byhand=')")
    page.get_by_role("button", name="Back to the fitted coefficients").click()
    expect(error).to_have_text(fitted)
    page.get_by_label("one step on").first.click()
    expect(page.locator(".told").first).to_contain_text("Forecast 1:")
    wait_for_address(page, "ahead", "1")


def test_the_training_is_scrubbed_and_plays_to_its_end(lesson):
    page = lesson("part=counting&count=network&show=1", "canvas.losses")
    told = page.locator(".told")
    expect(told).to_contain_text("step 200: loss 2.30")
    scrub = page.locator("input.scrub").last  # the table of pairs has one, too, without steps
    scrub.fill("0")
    expect(told).to_contain_text("step 0: loss 3.2958")
    scrub.press("End")
    for _ in range(4):
        scrub.press("ArrowLeft")
    expect(told).not_to_contain_text("step 200:")
    with motion(page):
        page.get_by_label("play").last.click()
        expect(told).to_contain_text("step 200: loss 2.30")
    canvas = page.locator(".one canvas").first
    canvas.focus()
    canvas.press("ArrowRight")
    frames(page)
    expect(page.locator(".pointed")).to_contain_text("P(b after .): learned")


def test_fields_open_by_click_and_by_key_and_a_drawn_letter_is_named(lesson):
    page = lesson("part=where&show=1", ".frame")
    page.get_by_role("radio", name="Machine learning").click()
    wait_for_address(page, "ring", "ml")
    a_letter_is_drawn_and_named(page)
    page.get_by_role("radio", name="Machine learning").press("ArrowUp")
    wait_for_address(page, "ring", "ai")
    page.locator('td[data-at="10.0"]').click()
    page.wait_for_function("() => location.search.includes('goal=10%2C0')")
    expect(page.get_by_text("The way has 14 steps")).to_be_visible()


def a_letter_is_drawn_and_named(page):
    pad = page.locator("canvas.pad")
    expect(pad).to_be_visible()
    page.get_by_role("button", name="Clear").click()
    expect(page.get_by_text("the canvas is empty")).to_be_visible()
    pad.scroll_into_view_if_needed()
    box = pad.bounding_box()
    x, y, size = box["x"], box["y"], box["width"]
    page.mouse.move(x + size / 4, y + size / 5)
    page.mouse.down()
    page.mouse.move(x + size / 4, y + 4 * size / 5, steps=6)
    page.mouse.move(x + 3 * size / 4, y + 4 * size / 5, steps=6)
    page.mouse.up()
    expect(page.get_by_text("It takes this for L")).to_be_visible()
