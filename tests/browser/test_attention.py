"""The lesson on attention under a hand: pointing, clicking, stepping, editing, sharing."""

from __future__ import annotations

import contextlib
import random
import re

import numpy as np
import pytest
from playwright.sync_api import TimeoutError, expect

from tests.browser.hand import FRAMES, frames, settle, still, until
from tests.browser.test_tokenization import ATTACK, quote, wait_for_address
from tests.nn.reference import W_Q, W_V, X

Q = (X @ W_Q).numpy()
SMALL = "0.5,0,0,0;0,0,0,0;0,-0.004,0,0;0,0,0.00003,-0.000004"  # a matrix as a link has it


def matrix(page, label: str):
    """The canvas of a matrix."""
    return page.locator(f'canvas.heat[aria-label^="{label},"]').first


def point(page, label: str, row: int, column: int) -> str:
    """Go to a cell by keyboard and return the arithmetic that stands below."""
    canvas = matrix(page, label)
    canvas.focus()
    rows = int(re.search(r"\d+", canvas.get_attribute("aria-label").partition(",")[2])[0])
    keys = ["Home", *["ArrowUp"] * min(rows - 1, 8), *["ArrowDown"] * row, *["ArrowRight"] * column]
    for key in keys:
        page.keyboard.press(key)
    return page.locator(".detail .sum").first.inner_text()


def evaluate(text: str) -> tuple[float, float]:
    """Work out what stands on both sides of the last equals sign."""
    text = text.replace("−", "-").replace("∞", "inf").replace("×", "*").replace("÷", "/")
    small = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
    text = re.sub(r"·10([⁻⁰-⁹¹²³]+)", lambda m: f"E{m.group(1).translate(small)}", text)
    left, right = text.rsplit("=", 1)
    left = re.sub(r"e\^?(-?[\d.]+|-inf)", lambda m: f"exp({m.group(1)})", left)
    left = re.sub(r"√(\d+)", r"sqrt(\1)", left).replace("exp(-inf)", "0")
    return float(eval(left, {"exp": np.exp, "sqrt": np.sqrt})), float(right)


def hover(page, label: str, where: str) -> tuple[float, float]:
    """Move the mouse over a matrix until the line below speaks of a cell; return the place."""
    canvas = matrix(page, label)
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    said = page.locator(".detail .where").first
    # Steps of less than a cell.
    for y in np.arange(box["y"] + box["height"] - 8, box["y"], -20):
        for x in np.arange(box["x"] + box["width"] - 8, box["x"], -34):
            page.mouse.move(float(x), float(y))
            page.evaluate("async () => {" + FRAMES + "}")
            if said.count() and said.inner_text() == f"{label} {where}":
                return float(x), float(y)
    raise AssertionError(f"no place on {label} is {where}")


def test_a_covered_cell_opens_with_the_answer_and_all_cells_to_arithmetic_that_can_be_edited(visit):
    visit.open("attention?part=steps&rung=causal")
    page = visit.page
    matrix(page, "context").wait_for()
    a_covered_cell_opens_with_the_answer_and_steps_go_by_keyboard(visit)
    page.get_by_role("radio", name="The cat sat, as if trained").click()
    wait_for_address(page, "source", "cat")
    visit.settle()
    cells_open_to_arithmetic_that_is_right(page)
    pointing_tells_a_cell_and_a_click_keeps_it(page)
    an_edited_cell_changes_what_follows(visit)
    visit.assert_clean()


def a_covered_cell_opens_with_the_answer_and_steps_go_by_keyboard(visit):
    page = visit.page
    assert point(page, "weights", 2, 1).endswith("= ?")
    page.get_by_text("Show me without an answer").first.click()
    visit.settle()
    share, said = evaluate(point(page, "weights", 2, 1))
    assert share == pytest.approx(said, abs=5e-4) and said == pytest.approx(0.787, abs=5e-4)
    page.locator(".scrub").first.focus()
    page.keyboard.press("Home")
    assert "a row of 4 numbers" in page.locator(".caption").first.inner_text()
    page.keyboard.press("ArrowRight")
    assert "queries" in page.locator(".caption").first.inner_text()
    wait_for_address(page, "step", "1")
    page.keyboard.press("End")


def cells_open_to_arithmetic_that_is_right(page):
    chance = random.Random(0)
    sizes = {"Q": (3, 4), "V": (3, 4), "scores": (3, 3), "scaled": (3, 3), "context": (3, 4)}
    for label, (rows, columns) in sizes.items():
        # The last row's context is made with the cell that the question below covers.
        row, column = chance.randrange(rows - (label == "context")), chance.randrange(columns)
        found, said = evaluate(point(page, label, row, column))
        assert found == pytest.approx(said, abs=5e-4), (label, row, column)
    share, said = evaluate(point(page, "weights", 2, 0))
    assert share == pytest.approx(said, abs=5e-4) and said == pytest.approx(0.3388, abs=5e-5)
    assert "−∞" in point(page, "masked", 0, 2)


def pointing_tells_a_cell_and_a_click_keeps_it(page):
    page.locator("[data-testid=stMain]").evaluate("main => main.scrollTo(0, 0)")
    hover(page, "scores", "The, The")
    text = page.locator(".detail .sum").first.inner_text()
    assert text == "0.50×0.30 + 0.31×0.38 + 0.54×0.30 + 0.46×0.19 = 0.5172"
    lit = page.locator("figure.matrix:not(.apart) .label").all_inner_texts()
    below = ["X", "position vectors", "token vectors"]  # another picture, where X comes from
    assert sorted(lit) == sorted(["K", "Q", "scores", *below])  # what it is made of, and itself
    page.mouse.click(*hover(page, "weights", "cat, The"))
    wait_for_address(page, "cell", "weights.1.0")
    page.locator(".formula-line").first.wait_for()
    assert "“cat” takes 50%" in page.locator(".detail.kept").first.inner_text()


def type_into_first_cell(page, grid, number: str, in_link: str) -> None:
    """Type over the first cell of a table until the link carries it.

    The table is a canvas that has no element to wait for. It takes the keys a frame after the
    click, and a number a frame after its last digit; it moves while the page above it is still
    being laid out: a click can miss and is then made again.
    """
    for _ in range(6):
        if not grid.is_visible():
            page.get_by_text("Edit the matrices").click()
            grid.wait_for()
        grid.scroll_into_view_if_needed()
        still(grid)
        box = grid.bounding_box()
        page.mouse.click(box["x"] + 25, box["y"] + 35 + 17)
        frames(page)
        page.keyboard.press("Enter")  # the table opens a box over the cell
        with contextlib.suppress(TimeoutError, AssertionError):
            editor = page.locator("#portal textarea, #portal input, .gdg-input").first
            editor.wait_for(timeout=3000)
            page.keyboard.press("Control+a")
            page.keyboard.type(number)
            expect(editor).to_have_value(number, timeout=3000)
            frames(page)
            page.keyboard.press("Enter")
            page.wait_for_url(lambda url: in_link in url, timeout=6000)
            return
        page.keyboard.press("Escape")
    raise AssertionError(f"the cell never took {number}: {page.url}")


def an_edited_cell_changes_what_follows(visit):
    page = visit.page
    assert evaluate(point(page, "V", 0, 0))[1] == pytest.approx(0.07, abs=1e-4)
    grid = page.locator("[data-testid=stDataFrame]").nth(3)  # W_V
    type_into_first_cell(page, grid, "1", "wv=1")
    visit.settle()
    changed = W_V.clone()
    changed[0, 0] = 1
    close = pytest.approx(float((X @ changed)[0, 0]), abs=1e-4)
    until(page, lambda: evaluate(point(page, "V", 0, 0))[1] == close)


SCROLL = "(by) => document.querySelector('[data-testid=stMain]').scrollBy(0, by)"


def test_what_the_keys_show_stays_where_the_page_scrolls_below_a_resting_pointer(visit):
    visit.open("attention?part=steps", "canvas")
    page = visit.page
    detail = page.locator(".detail").first
    hint = detail.inner_text()
    for pointed in ("Q", "weights"):  # another picture than the keys', and the same
        canvas = matrix(page, pointed)
        canvas.scroll_into_view_if_needed()
        canvas.hover()
        matrix(page, "weights").focus()
        for key in ("Home", "ArrowDown"):
            page.keyboard.press(key)
        frames(page)
        said = detail.inner_text()
        assert said.startswith("weights")
        page.evaluate(SCROLL, 500)
        page.wait_for_timeout(300)  # the browser says a little later what the pointer has left
        assert detail.inner_text() == said
        matrix(page, "weights").blur()
        assert detail.inner_text() == hint
    canvas.scroll_into_view_if_needed()
    canvas.hover()
    frames(page)
    assert detail.inner_text() != hint
    page.evaluate(SCROLL, 500)
    until(page, lambda: detail.inner_text() == hint)
    visit.assert_clean()


def test_a_switch_says_what_changes_and_a_kept_cell_stays_when_controls_and_chapters_do(visit):
    visit.open("attention?part=masks&source=cat&show=1")
    page, kept = visit.page, visit.page.locator(".detail.kept").first
    matrix(page, "weights").wait_for()
    page.get_by_role("radio", name="Off by one", exact=True).click()
    page.get_by_text("The weights differ from the right ones").wait_for()
    wait_for_address(page, "mask", "off_by_one")
    page.get_by_role("radio", name="Causal", exact=True).first.click()
    visit.settle()
    point(page, "weights", 1, 1)
    matrix(page, "weights").press("Enter")
    wait_for_address(page, "cell", "weights.1.1")
    page.get_by_role("radio", name="None", exact=True).first.click()
    expect(kept).to_contain_text("= 0.3408")
    page.get_by_role("radio", name="Heads", exact=True).click()
    page.get_by_text("chapter 4 of").wait_for()
    page.get_by_role("radio", name="Masks", exact=True).click()
    expect(kept).to_contain_text("= 0.3408")
    page.get_by_role("radio", name="Step by step", exact=True).click()
    page.get_by_role("heading", name="Every number behind it").wait_for()
    visit.settle()
    page.get_by_role("radio", name="Causal", exact=True).click()
    expect(kept).to_contain_text("= 0.4995")
    page.get_by_role("radio", name="Several heads", exact=True).click()
    matrix(page, "weights₀").wait_for()
    expect(kept).to_have_count(0)  # there is no such matrix
    expect(page.locator("[data-testid=stAlert]")).to_have_count(0)
    visit.assert_clean()


def test_a_window_moves_by_keyboard_and_its_kept_cell_opens_again(visit, other):
    visit.open("attention?part=steps&rung=causal&source=model")
    page = visit.page
    page.locator("canvas.heat, [data-testid=stAlert]").first.wait_for()
    if not page.locator("canvas.mini").count():
        pytest.skip("no wide model is bundled in this copy")
    mini = page.locator('canvas.mini[aria-label="window on Q"]')
    said = page.locator("figure", has=mini).locator(".seen")
    before = said.inner_text()
    mini.focus()
    mini.press("End")
    expect(said).not_to_have_text(before)
    first = re.search(r"columns (\d+)–\d+ of \d+", said.inner_text())[1]
    wait_for_address(page, "seen", f"N.{first}")
    canvas = matrix(page, "Q")
    canvas.focus()
    canvas.press("Home")
    canvas.press("End")  # the last column, which only the moved window shows
    canvas.press("Enter")
    page.locator(".formula-line").first.wait_for()
    text = page.locator(".detail .sum").first.inner_text()
    found, told = evaluate(text)
    assert text.count("×") > 8 and found == pytest.approx(told, abs=0.02)
    # The same address in another window shows the same.
    page.wait_for_url("**cell=Q.*")
    other.page.goto(page.url)
    place = other.page.locator('canvas.mini[aria-label="window on Q"]')
    place.wait_for()
    assert place.get_attribute("aria-valuenow") == first
    kept = other.page.locator(".detail.kept").first
    kept.wait_for()
    assert kept.locator(".sum").first.inner_text() == text
    other.assert_clean()
    visit.assert_clean()


SPY = """
window.written = [];
const fill = CanvasRenderingContext2D.prototype.fillText;
CanvasRenderingContext2D.prototype.fillText = function (text, ...place) {
  window.written.push(text);
  return fill.call(this, text, ...place);
};
"""


def test_a_cell_is_nought_only_where_nothing_is(visit):
    more = "wk=8,0,0,0;0,0,0,0;0,0,0,0;0,0,0,0&x=9,0,0,0;0,4,4,0;2,0,0,1"
    visit.open(f"attention?part=steps&source=cat&rung=qkv&wq={SMALL}&{more}")
    page = visit.page
    matrix(page, "weights").wait_for()
    page.evaluate(f"() => {{ {SPY} }}")
    visit.dress("dark", 1440)  # now all is drawn again
    page.wait_for_function("window.written.includes('≈0')")  # e to the power of less than −81
    written = set(page.evaluate("window.written"))
    assert {"0.50", "0.00"} <= written and "−0.00" not in written
    numbers = re.compile(r"−?\d*\.?\d+(e[−+]?\d+)?")
    plain = [text.replace("−", "-") for text in written if numbers.fullmatch(text)]
    known = {float(text) for text in plain}
    assert {-0.004, 3e-5, -4e-6} <= known
    visit.assert_clean()


def test_lines_and_heads_answer_without_the_server(visit):
    visit.open("attention?part=trained&look=cross")
    page = visit.page
    page.locator("canvas.lines, [data-testid=stAlert]").first.wait_for()
    if not page.locator("canvas.lines").count():
        pytest.skip("the translation model is not bundled in this copy")
    page.locator("canvas.lines").focus()
    page.keyboard.press("ArrowDown")
    assert "takes most" in page.locator(".lines-told").inner_text()
    page.keyboard.press("ArrowRight")
    assert "is used most" in page.locator(".lines-told").inner_text()
    page.locator("[data-head='2']").click()
    assert page.locator("[data-head='2']").get_attribute("aria-pressed") == "true"
    wait_for_address(page, "pair", "2")
    page.get_by_text("This is layer 0, head 2").wait_for()
    visit.settle()
    for label, row, column in (("Q", 1, 0), ("scaled", 2, 7), ("weights", 2, 7), ("context", 1, 2)):
        point(page, label, row, column)
        page.keyboard.press("Enter")  # kept, so that all its terms are there
        page.locator(".detail.kept").wait_for()
        found, said = evaluate(page.locator(".detail .sum").first.inner_text())
        assert found == pytest.approx(said, abs=2e-3), label
        page.keyboard.press("Enter")
    visit.assert_clean()


def test_a_word_that_is_clicked_asks_and_a_head_that_is_clicked_answers(visit):
    visit.open("attention?part=trained")
    a_word_asks_and_its_arcs_are_as_thick_as_its_shares(visit.page)
    a_head_is_the_answer_and_the_bars_tell_what_comes_without_it(visit.page)
    visit.assert_clean()


def a_word_asks_and_its_arcs_are_as_thick_as_its_shares(page):
    words, arcs = page.locator("button.word"), page.locator("path.arc")
    expect(page.locator("button.word.asks")).to_contain_text("with")

    def shares() -> list[float]:
        texts = page.locator("button.word .share").all_inner_texts()
        return sorted(float(text.rstrip("%").strip()) for text in texts if text)

    def wide() -> list[float]:
        return sorted(float(one.get_attribute("stroke-width")) for one in arcs.all())

    before = shares()
    assert wide() == pytest.approx([max(0.8, 0.11 * share) for share in before], abs=0.06)
    assert sum(before) == pytest.approx(100, abs=4)
    words.filter(has_text="·book").last.click()
    expect(page.locator("button.word.asks")).to_contain_text("book")
    assert shares() != before
    assert wide() == pytest.approx([max(0.8, 0.11 * share) for share in shares()], abs=0.06)
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(page.locator("button.word.asks")).to_contain_text("stayed")
    expect(page.get_by_role("button", name="stayed asks", pressed=True)).to_have_count(1)
    expect(page.locator("button.word[tabindex='0']")).to_have_count(1)
    settle(page)


def a_head_is_the_answer_and_the_bars_tell_what_comes_without_it(page):
    expect(page.locator(".row .number").first).to_have_text("?")
    page.locator("canvas.heads").focus()
    for key in ("ArrowUp", "ArrowUp", "Enter"):  # from layer 3, head 3
        page.keyboard.press(key)
    wait_for_address(page, "layer", "1")
    page.get_by_text("Right: Layer 1, head 3").wait_for()
    rows = page.locator(".row[role=group]")
    expect(rows.nth(1)).to_have_attribute("aria-label", re.compile(r"·Samir: 9\d"))
    settle(page)


def test_a_look_up_is_followed_to_the_tiles(visit):
    visit.open("attention?part=trained&story=15&show=1")
    page = visit.page
    page.get_by_role("button", name="Another story").click()
    asked = page.get_by_text("Asked for the torch, the model gives")
    asked.wait_for()  # that of story 0
    settle(page)
    page.locator(".chip", has_text="large").nth(1).click()  # in the row of the second question
    page.get_by_text("the same key").wait_for()
    settle(page)
    for label in ("their products", "scaled", "e to that", "weight"):
        found, said = evaluate(point(page, label, 1, 0))
        assert found == pytest.approx(said, rel=1e-3, abs=1e-3), label
    assert "more)" in point(page, "sum over all tokens", 0, 0)
    page.keyboard.press("Enter")  # kept, so that all its terms are there
    page.locator(".detail.kept").wait_for()
    found, said = evaluate(page.locator(".detail .sum").first.inner_text())
    assert found == pytest.approx(said, rel=1e-3)
    wait_for_address(page, "cell", "total.0.0")
    page.get_by_role("button", name="Follow it in the tiles above").click()
    wait_for_address(page, "asked", "own")
    expect(page.get_by_label("Your text").first).to_have_value(
        re.compile(r"the torch now\? It was$")
    )
    settle(page)
    visit.assert_clean()


def test_hostile_text_stays_text(visit):
    texts = "&".join(f"{name}={quote(ATTACK)}" for name in ("text", "words", "sentence", "letters"))
    visit.open(f"attention?part=why&source=model&{texts}")
    page = visit.page
    for chapter in ("Why", "Step by step", "Heads", "A trained model"):
        if chapter != "Why":
            page.get_by_role("radio", name=chapter, exact=True).click()
            visit.settle()
        assert page.evaluate("window.stolen") is None, chapter
        assert page.locator("#planted").count() == 0, chapter
        assert page.locator("img[src=x]").count() == 0, chapter
        visit.assert_clean()
