"""The lesson on embeddings under a hand: rows chosen, cells opened, links restored."""

from __future__ import annotations

import numpy as np
import pytest

from llmviz.similarity import measure_all, nearest
from llmviz.training.run_folder import load_trained
from tests.browser.hand import until

PAGE = "embeddings"
QUERY = "show=1&"  # with what questions cover


@pytest.fixture(scope="module")
def rows(small_models) -> np.ndarray:
    """The table of the model of these tests."""
    return load_trained(small_models / "tiny-world-gpt").model.token.weight.detach().numpy()


@pytest.fixture(scope="module")
def address(small_url):
    return small_url


def told(page, text: str) -> None:
    """Wait until the line below the close-up says something."""
    page.locator(".told", has_text=text).wait_for()


def detail(page, at: int, text: str) -> None:
    """Wait until the arithmetic below the matrices number `at` says something."""
    page.locator(".detail").nth(at).filter(has_text=text).wait_for()


def type_word(page, word: str) -> None:
    """Ask for a row in the box."""
    box = page.get_by_label("Word, or #id")
    box.fill(word)
    box.press("Enter")


def test_the_table_is_fetched_once_and_its_rows_are_pointed_at_chosen_and_linked(
    lesson, window, rows
):
    fetched = []

    def answer(route):
        fetched.append(route.request.url)
        if fetched.count(route.request.url) == 1:
            route.fulfill(status=503)
        else:
            route.continue_()

    window.page.route("**/media/*.bin", answer)
    page = lesson("part=lookup&word=%23300&column=4", ".detail.kept")
    told(page, "is row 300")
    until(page, lambda: len(fetched) == 4)
    assert len(set(fetched)) == 2  # the table, and what the search finds
    a_product_opens_with_its_arithmetic_and_lets_go(page, window, rows)
    for row in (7, 9, 0):
        type_word(page, f"#{row}")
        told(page, f"is row {row}")
    pointing_shows_the_number_under_the_pointer(page, rows)
    assert len(fetched) == 4  # another row of the same table fetches nothing
    window.page.unroute("**/media/*.bin")
    window.errors[:] = [line for line in window.errors if "503" not in line]
    a_row_is_looked_at_chosen_and_restored_by_its_link(page, window, rows)


def a_product_opens_with_its_arithmetic_and_lets_go(page, window, rows):
    value = rows[300, 4]
    text = f"{value:.4f}".replace("-", "−")
    detail(page, 0, f"1.00×{f'({text})' if value < 0 else text}")
    page.locator(".detail .free").click()
    page.wait_for_function("() => /cell=/.test(location.href)")
    window.settle()
    assert page.locator(".detail.kept").count() == 0


def pointing_shows_the_number_under_the_pointer(page, rows):
    page.locator(".close canvas").scroll_into_view_if_needed()
    box = page.locator(".close canvas").bounding_box()
    gutter = 132
    cell = (box["width"] - gutter) / rows.shape[1]
    page.mouse.move(box["x"] + gutter + 7.5 * cell, box["y"] + 1 + 2.5 * 19)
    told(page, "row 2, number 7")


def a_row_is_looked_at_chosen_and_restored_by_its_link(page, window, rows):
    type_word(page, "#300")
    told(page, "is row 300")
    window.settle()
    whole = page.locator(".whole canvas").first
    whole.focus()
    for _ in range(3):
        page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    value = float(np.float16(rows[303, 1]))
    digits = 2 if abs(value) >= 1 else 3
    told(page, f"{value:.{digits}f}".replace("-", "−"))
    address = page.url  # looking sends nothing
    page.keyboard.press("Enter")
    page.wait_for_function("was => location.href !== was", arg=address)
    window.settle()
    assert "303" in page.locator(".lv-prose", has_text="the bright line").first.inner_text()
    chosen = page.url
    page.goto("about:blank")
    page.goto(chosen)
    page.wait_for_selector(".whole canvas")
    told(page, "is row 303")
    for _ in range(2):  # the same row again, after the page chose another
        type_word(page, "#7")
        told(page, "is row 7")
        window.settle()
        page.locator(".whole canvas").first.focus()
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        page.wait_for_function("() => !/word=%237/.test(location.href)")
        window.settle()


def test_neighbours_are_walked_along_and_typed_vectors_open_to_every_product(lesson, window, rows):
    page = lesson("part=similarity&look=neighbours&word=%23300&k=3", ".matrix")
    neighbours_are_walked_along(page, window, rows)
    page.get_by_role("radio", name="These two, step by step").click()
    page.get_by_role("radio", name="Numbers you type").click()
    page.get_by_label("v2", exact=True).wait_for()
    window.settle()
    typed_vectors_open_to_every_product(page, window)
    a_table_that_cannot_be_fetched_says_so(page, window)


def a_table_that_cannot_be_fetched_says_so(page, window):
    page.route("**/media/*.bin", lambda route: route.fulfill(status=404))
    # It is asked for some times, with longer and longer breaks.
    page.evaluate(
        "(later => (window.setTimeout = (act, wait) => later(act, wait / 20)))(setTimeout)"
    )
    page.get_by_role("radio", name="The table").click()
    page.get_by_text("Please reload the page").first.wait_for()
    page.unroute("**/media/*.bin")
    window.errors[:] = [line for line in window.errors if "404" not in line]


def typed_vectors_open_to_every_product(page, window):
    plane = page.locator("canvas.plane").get_attribute("aria-label")
    assert f"distance {np.sqrt(0.03):.3f}" in plane and "A v1: (1.005, 0.000)" in plane
    dot = page.locator(".matrix", has_text="A·B").first.locator("canvas")
    dot.focus()
    page.keyboard.press("ArrowRight")
    page.locator(".detail", has_text="0.20×0.10 + 0.40×0.50 + 0.90×0.80 = 0.9400").first.wait_for()
    page.keyboard.press("Enter")
    page.wait_for_function("() => /kept=/.test(location.href)")
    window.settle()
    box = page.get_by_label("v2", exact=True)
    box.fill("0, 0, 0")
    box.press("Enter")
    page.get_by_text("cosine is undefined for a zero vector").wait_for()
    window.settle()
    page.locator(
        ".detail", has_text="0.0000"
    ).first.wait_for()  # the kept cell stays open, with the new numbers


def neighbours_are_walked_along(page, window, rows):
    first = nearest(rows, rows[300], 1, exclude=[300]).ids[0]
    cosine = nearest(rows, rows[300], 1, exclude=[300]).values[0]
    page.locator(".matrix", has_text="cosine").locator("canvas").last.focus()
    page.keyboard.press("ArrowRight")
    page.locator(".detail", has_text=f"= {cosine:.4f}").first.wait_for()
    page.locator("canvas.bars").focus()
    page.keyboard.press("End")
    counts, _ = np.histogram(np.delete(measure_all(rows, rows[300]), 300), 60)
    told(page, f": tokens {counts[-1]}")
    walk = page.locator("[data-testid=stButtonGroup]", has_text="Go on from one of them")
    walk.locator("button").first.press("Enter")
    page.wait_for_function("() => !/word=%23300/.test(location.href)")
    window.settle()
    again = nearest(rows, rows[first], 1, exclude=[first]).values[0]
    page.locator(".matrix", has_text="cosine").locator("canvas").last.focus()
    page.keyboard.press("Home")
    page.locator(".detail", has_text=f"= {again:.4f}").first.wait_for()


def test_another_token_is_followed_through_two_sentences(lesson, window):
    query = "part=context&ctxword=the&ctx1=a+man+saw+the+dog&ctx2=on+the+bed"
    page = window.page
    window.open(f"transformer?{query}&show=1")
    page.locator(".chip").first.wait_for()
    page.locator(".chip").first.click()
    page.wait_for_function("() => /at1=0/.test(location.href)")
    window.settle()
    page.get_by_text("These are two different tokens").wait_for()
    link = page.get_by_text("See this head on the first sentence")
    link.click()
    page.wait_for_url("**/attention?*")
    page.get_by_text("Attention · chapter").first.wait_for()
    window.settle()
    assert "part=trained" in page.url and "a+man+saw+the+dog" in page.url.replace("%20", "+")
