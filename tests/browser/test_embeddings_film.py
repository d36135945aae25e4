"""Maps of words under a hand: a film is played, zoomed, asked; a training moves the points."""

from __future__ import annotations

from urllib.parse import quote_plus

import pytest
from playwright.sync_api import expect

from tests.browser.hand import still

PAGE = "embeddings"
TEXT = (
    "The dog barked at the cat. The cat meowed at the dog. A red bird sang; a blue bird flew. " * 6
)

# Where the ring around the chosen point is: the middle of all pixels in the accent colour.
RING = """(canvas) => {
  const pen = canvas.getContext("2d");
  const ratio = canvas.width / canvas.clientWidth;
  const { data } = pen.getImageData(0, 0, canvas.width, canvas.height);
  let [n, x, y] = [0, 0, 0];
  for (let i = 0; i < data.length; i += 4) {
    const near = Math.abs(data[i] - 245) + Math.abs(data[i + 1] - 179) + Math.abs(data[i + 2] - 1);
    if (near > 12) continue;
    const at = i / 4;
    n += 1;
    x += at % canvas.width;
    y += Math.floor(at / canvas.width);
  }
  return [x / n / ratio, y / n / ratio];
}"""


@pytest.fixture
def lesson(lesson):
    """Open a chapter and wait for its map."""
    return lambda query, wait_for="canvas.map": lesson(f"{query}&show=1", wait_for)


def picture(page) -> str:
    """The map as it is drawn, once it stands still."""
    still(page.locator("canvas.map"))
    return page.locator("canvas.map").evaluate("canvas => canvas.toDataURL()")


def of_film(page, selector: str):
    """A part of the component that the map is in; other components have players, too."""
    return page.locator(".lv:has(canvas.map)").locator(selector)


def nearest(page, word: str) -> list[str]:
    box = page.locator(".list", has=page.get_by_text(word, exact=True))
    return box.locator(".who").all_inner_texts()


def chosen(page, words: list[str]) -> None:
    """Wait until exactly these words have a list of neighbours."""
    expect(page.locator(".list-head strong")).to_have_text(words)


def test_a_film_is_scrubbed_and_zoomed_kinds_are_lit_and_a_training_moves_the_map(lesson, window):
    page = lesson(
        f"part=word2vec&watch=Monday&corpus=text&dim=2&window=2&epochs=500&text={quote_plus(TEXT)}"
    )
    the_film_is_scrubbed_its_neighbours_follow_and_a_zoom_stays(page)
    kinds_of_words_are_lit_and_the_link_keeps_them(page, window)
    a_training_of_the_learner_moves_the_map_while_it_runs(page, window)


def the_film_is_scrubbed_its_neighbours_follow_and_a_zoom_stays(page):
    at_end, late = picture(page), nearest(page, "Monday")
    assert {"Tuesday", "Wednesday", "Friday"} <= set(late)
    scrub = of_film(page, "input.scrub")
    scrub.focus()
    page.keyboard.press("Home")
    page.wait_for_url(lambda url: "frame=0" in url)
    assert picture(page) != at_end
    assert nearest(page, "Monday") != late
    page.keyboard.press("End")
    page.wait_for_url(lambda url: "frame=" not in url)
    assert picture(page) == at_end
    assert nearest(page, "Monday") == late

    # also when another word is asked for
    canvas = page.locator("canvas.map")

    def zoom() -> float:
        still(canvas)
        return float(canvas.get_attribute("data-scale"))

    whole = zoom()
    page.get_by_role("button", name="closer").click()
    closer = zoom()
    assert closer > 1.4 * whole
    find = page.get_by_role("searchbox", name="Find a word")
    find.fill("Paris")
    assert page.locator(".found").inner_text() == "1 found"
    find.press("Enter")
    chosen(page, ["Monday", "Paris"])
    assert nearest(page, "Paris")[0] == "France"
    assert zoom() == closer
    page.get_by_role("button", name="remove Monday").click()
    chosen(page, ["Paris"])
    canvas.focus()
    page.keyboard.press("0")
    assert zoom() == pytest.approx(whole)
    page.keyboard.press("ArrowRight")
    page.wait_for_selector(".note:not([hidden]) strong")
    assert page.locator(".note strong").inner_text() != "Paris"


def kinds_of_words_are_lit_and_the_link_keeps_them(page, window):
    before = picture(page)
    trees = page.get_by_role("button", name="trees")
    assert trees.get_attribute("aria-pressed") == "false"
    trees.click()
    page.wait_for_url(lambda url: "kinds=" in url and "19" in url)
    assert picture(page) != before
    address = page.url
    page.goto("about:blank")
    page.goto(address)
    page.wait_for_selector("canvas.map")
    window.settle()
    assert page.get_by_role("button", name="trees").get_attribute("aria-pressed") == "true"


def a_training_of_the_learner_moves_the_map_while_it_runs(page, window):
    page.get_by_role("button", name="Train", exact=True).click()
    # First the bundled film goes on standing there, then the learner's own words.
    page.wait_for_url(lambda url: "trained=1" in url)
    page.get_by_role("button", name="Keep for the other lessons").wait_for()
    expect(of_film(page, ".player .count")).to_have_text("40 / 40")
    window.settle()
    last = picture(page)
    of_film(page, "input.scrub").focus()
    page.keyboard.press("Home")
    page.wait_for_url(lambda url: "frame=0" in url)
    first = picture(page)
    assert first != last
    page.keyboard.press("ArrowRight")
    second = picture(page)
    assert second not in (first, last)
    page.keyboard.press("End")
    assert picture(page) == last


def test_a_point_says_who_it_is_and_is_let_go_by_a_click_and_a_phone_has_room_for_tools(lesson):
    page = lesson("part=maps&spots=Monday&points=200&show=1")
    canvas = page.locator("canvas.map")
    canvas.scroll_into_view_if_needed()
    still(canvas)
    x, y = canvas.evaluate(RING)
    box = canvas.bounding_box()
    page.mouse.move(box["x"] + x, box["y"] + y)
    page.wait_for_selector(".note:not([hidden]) strong")
    assert page.locator(".note strong").inner_text() == "Monday"
    assert "neighbours here are true" in page.locator(".note").inner_text()
    page.mouse.click(box["x"] + x, box["y"] + y)
    chosen(page, [])
    page.wait_for_url(lambda url: "spots=" in url)

    # what is said of a search leaves the tools their shape
    page.set_viewport_size({"width": 390, "height": 900})
    page.get_by_role("searchbox", name="Find a word").fill("nonsense")
    page.locator(".found", has_text="not among").wait_for()
    tools = [tool.bounding_box() for tool in page.locator(".tool").all()]
    assert [round(box["width"]) for box in tools] == [30, 30, 30]
    assert all(box["x"] + box["width"] <= 390 for box in tools)
