"""The chapter on positions under a hand: the shuffle test asks first, then its bars follow."""

from __future__ import annotations

import math
import re

import pytest
from playwright.sync_api import expect

from llmviz.course.lessons.embeddings.positions import words
from tests.browser.test_tokenization import wait_for_address

PAGE = "embeddings"
QUERY = "show=1&"  # with what questions cover
# How long the bars of a row are, in CSS pixels: the longest run of one colour in each one's middle.
LENGTHS = """([canvas, row, middles]) => {
  const ratio = canvas.width / canvas.clientWidth;
  const pen = canvas.getContext("2d");
  return middles.map((middle) => {
    const y = Math.round((8 + 34 * (row + 0.5) + middle) * ratio);
    const { data } = pen.getImageData(0, y, canvas.width, 1);
    const pixels = new Uint32Array(data.buffer);
    const paper = pixels[pixels.length - 1];
    let [best, run] = [0, 0];
    for (let x = 1; x < pixels.length; x++) {
      run = pixels[x] === pixels[x - 1] && pixels[x] !== paper ? run + 1 : 0;
      best = Math.max(best, run);
    }
    return best / ratio;
  });
}"""


def shares(bars) -> list[list[float]]:
    """The percentages that a figure of bars tells a screen reader, a list for each label."""
    said = bars.get_attribute("aria-label").split(". ", 2)[2]
    return [[float(x) for x in re.findall(r"([\d.]+) %", part)] for part in said.split("; ")]


def test_nothing_is_given_away_before_the_button_and_then_the_bars_follow(lesson, window):
    page = lesson("part=positions", "canvas.pairs")
    pictures = page.locator("canvas.pairs")
    assert pictures.count() == 2
    assert all(len(pair) == 1 for i in range(2) for pair in shares(pictures.nth(i)))
    page.get_by_role("button", name=words.shuffle).click()
    for i in range(2):
        page.locator(f"canvas.pairs[aria-label*='{words.orders[1]}']").nth(i).wait_for()
    window.settle()
    with_, without = (shares(pictures.nth(i)) for i in range(2))
    assert all(before == after for before, after in without)
    before, after = with_[0]
    assert before - after > 20  # the right word, which order alone can tell
    handle = pictures.nth(0).element_handle()
    first, second = page.evaluate(LENGTHS, [handle, 0, [-7, 5]])
    assert second / first == pytest.approx(after / before, abs=0.02)
    shuffled = page.url
    page.goto("about:blank")
    page.goto(shuffled)  # the link holds the order
    page.locator(f"canvas.pairs[aria-label*='{words.orders[1]}']").nth(1).wait_for()
    window.settle()
    assert shares(pictures.nth(0)) == with_


def test_a_cell_opens_to_its_formula_for_each_kind_and_the_curves_follow_the_pointer(
    lesson, window
):
    page = lesson(
        "part=ways&placing=rotary&length=16&width=8&base=100&position=3&number=5", "canvas.picture"
    )
    line = page.locator(".said.num").first
    written = f"{math.sin(3 / 100 ** (2 / 8)):.4f}"
    text = line.inner_text().replace("−", "-")
    assert text.startswith("position 3, column 5: sin(3 / 100^(2/8))") and text.endswith(written)
    page.get_by_role("radio", name="Learned").click()
    wait_for_address(page, "placing", "learned")
    window.settle()
    assert "sin" not in line.inner_text()
    page.get_by_role("radio", name="Sinusoidal").click()
    page.wait_for_url(lambda url: "placing" not in url)
    window.settle()
    written = f"{math.cos(3 / 100 ** (4 / 8)):.4f}"
    expect(line).to_have_text(
        f"position 3, column 5: cos(3 / 100^(4/8)) = cos(3 / 10.0000) = cos(0.3000) = {written}"
    )
    the_curves_follow_the_pointer_over_the_table_of_positions(page)


def the_curves_follow_the_pointer_over_the_table_of_positions(page):
    picture_ = page.locator("canvas.picture")
    picture_.scroll_into_view_if_needed()
    box = picture_.bounding_box()
    said = page.locator(".said").inner_text()
    page.mouse.move(box["x"] + 0.6 * box["width"], box["y"] + 0.5 * box["height"])
    expect(page.locator(".said")).not_to_have_text(said)
    address = page.url
    page.mouse.click(box["x"] + 0.6 * box["width"], box["y"] + 0.5 * box["height"])
    page.wait_for_url(lambda url: url != address and "number=" in url)
    address = page.url
    picture_.focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_url(lambda url: url != address)
