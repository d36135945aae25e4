"""Pictures leave the page: as images, as numbers, as a page that is alive, in a frame."""

from __future__ import annotations

import base64
import csv
import re
import struct
from urllib.parse import quote
from xml.etree import ElementTree

import numpy as np
import pandas
import pytest
from playwright.sync_api import expect

from llmviz.course.ui.guess_drawn import words
from tests.browser.hand import frames, settle, until

HOSTILE = "=1+1 <img src=x onerror=alert(1)> \"q\" {a} $& ]]> '@b' </script> 한국어 🙂"
SVG = "{http://www.w3.org/2000/svg}"


def press_of(page, key):
    """The button of a picture."""
    page.wait_for_selector(f"[data-picture='{key}'] .save", state="attached")
    return page.locator(f"[data-picture='{key}'] .save")


def save(page, form, key):
    """Choose a form in the menu of a picture; return the file's path and its name."""
    press_of(page, key).evaluate("button => button.click()")
    with page.expect_download() as given:
        page.locator(f".menu [data-form={form}]").click()
    page.keyboard.press("Escape")
    return given.value.path(), given.value.suggested_filename


@pytest.fixture(scope="module")
def window_offline(browser):
    """A window without network, and what is seen of what it asks and says."""
    context = browser.new_context(offline=True, viewport={"width": 1440, "height": 900})
    page = context.new_page()
    seen = {"asked": [], "errors": [], "dialogs": []}
    page.on("request", lambda request: seen["asked"].append(request.url))
    page.on("pageerror", lambda error: seen["errors"].append(str(error)))
    page.on("console", lambda one: one.type == "error" and seen["errors"].append(one.text))
    page.on("dialog", lambda dialog: seen["dialogs"].append(dialog.message) or dialog.dismiss())
    yield page, seen
    context.close()


@pytest.fixture
def offline(window_offline):
    """Open a file in a browser without network; it must ask nobody for anything."""
    page, seen = window_offline
    opened = []
    for heard in seen.values():
        heard.clear()

    def open_file(path, folder):
        file = folder / f"saved{len(opened)}.html"
        file.write_bytes(path.read_bytes())
        page.goto(file.as_uri())
        page.wait_for_selector("html[data-drawn]", state="attached")
        opened.append(file.as_uri())
        return page

    yield open_file
    assert [url for url in seen["asked"] if not url.startswith(("data:", "blob:"))] == opened
    assert seen["errors"] == seen["dialogs"] == []


def rows_of(path):
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.reader(file))


def is_number(cell):
    try:
        float(cell)
    except ValueError:
        return False
    return True


LADDER = "attention.ladder"
MARGIN = 16  # pixels around a saved image
# The first and last row and column of an image that are not all of one colour.
DRAWN = """async (data) => {
  const file = await fetch(`data:image/png;base64,${data}`);
  const picture = await createImageBitmap(await file.blob());
  const { width, height } = picture;
  const pen = new OffscreenCanvas(width, height).getContext('2d');
  pen.drawImage(picture, 0, 0);
  const cells = new Uint32Array(pen.getImageData(0, 0, width, height).data.buffer);
  const [columns, rows] = [[], []];
  cells.forEach((cell, i) => {
    if (cell !== cells[0]) { columns.push(i % width); rows.push(Math.floor(i / width)); }
  });
  const ends = (list) => [Math.min, Math.max].map((f) => list.reduce((a, b) => f(a, b)));
  return { columns: ends(columns), rows: ends(rows), width, height };
}"""
PICTURE = ".lv:has(canvas[aria-label^='weights,'])"


def arithmetic(page):
    """What the page says of one cell of each of some matrices, by the keyboard and the pointer."""
    said = []
    detail = page.locator(f"{PICTURE} .detail")
    for label in ("Q", "scores", "weights", "context"):
        canvas = page.locator(f"{PICTURE} canvas[aria-label^='{label},']")
        canvas.focus()
        page.keyboard.press("ArrowDown")
        page.keyboard.press("ArrowLeft")
        frames(page)
        said.append(detail.inner_text())
    canvas.hover(position={"x": 90, "y": 30})
    frames(page)
    return [*said, detail.inner_text()]


FOCUS = "document.activeElement.shadowRoot.activeElement.dataset.form"


def test_a_picture_leaves_as_a_page_a_table_an_image_and_numbers_and_by_keyboard(
    visit, offline, tmp_path
):
    visit.open("attention?part=steps", "canvas")
    page = visit.page
    a_saved_page_is_alive_and_says_the_same_arithmetic(page, offline, tmp_path)
    the_menu_goes_by_the_keyboard(page)
    page.get_by_text("Show me without an answer").first.click()
    settle(page, calm=400)
    an_image_is_the_picture_and_numbers_are_whole(page)
    it_says_what_the_browser_refuses(page)
    visit.assert_clean()


def a_saved_page_is_alive_and_says_the_same_arithmetic(page, offline, tmp_path):
    path, name = save(page, "html", LADDER)
    assert re.fullmatch(r"llmviz-attention-[A-Za-z0-9-]+\.html", name)
    saved = offline(path, tmp_path)
    said = arithmetic(saved)
    assert len(set(said)) == 5 and all("=" in one or "softmax" in one for one in said)
    assert said == arithmetic(page)
    back = ".player [aria-label='one step back']"
    saved.locator(back).click()
    assert saved.locator(".count").inner_text().startswith("7 /")
    link = saved.locator("#settings a")
    assert link.get_attribute("href") == page.url and "MIT License" in saved.content()
    # What the hand has set is where the next saved page begins.
    page.locator(f"{PICTURE} {back}").click()
    settle(page, calm=400)
    again = offline(save(page, "html", LADDER)[0], tmp_path)
    assert again.locator(".count").inner_text().startswith("7 /")
    page.locator(f"{PICTURE} .player [aria-label='one step on']").click()
    settle(page, calm=400)


def the_menu_goes_by_the_keyboard(page):
    press_of(page, LADDER).focus()
    page.keyboard.press("Enter")
    until(page, lambda: page.locator(".menu:popover-open").count() == 1)
    assert page.evaluate(FOCUS) == "sheet"
    page.keyboard.press("Enter")  # the numbers as a table, and back to where the hand was
    sheet = page.locator("dialog.sheet[open]")
    said = press_of(page, LADDER).get_attribute("aria-description")
    assert said.startswith("X: 3 rows") and said == sheet.locator("p").first.inner_text()
    shown = sheet.locator("th[scope=row]").all_inner_texts()[:3]
    assert shown == ["The", "cat", "sat"]
    assert "?" in sheet.locator("td").all_inner_texts()  # what a question covers stays covered
    page.keyboard.press("Escape")
    sheet.wait_for(state="hidden")


def an_image_is_the_picture_and_numbers_are_whole(page):
    whole = page.locator(PICTURE).first.bounding_box()["height"]
    player = page.locator(f"{PICTURE} .player").bounding_box()["height"]
    image = save(page, "png", LADDER)[0].read_bytes()
    drawn = page.evaluate(DRAWN, base64.b64encode(image).decode())
    title = drawn["height"] / 2 - 2 * MARGIN - whole + player  # the player is not in it
    assert 0 < title < 100
    numbers = pandas.read_csv(save(page, "csv", LADDER)[0])
    assert list(numbers.columns) == ["table", "row", "column", "value"]
    weights = numbers[numbers["table"].str.startswith("weights")]
    assert np.allclose(weights.groupby("row")["value"].sum(), 1, atol=1e-5)


def it_says_what_the_browser_refuses(page):
    press_of(page, LADDER).focus()
    page.keyboard.press("Enter")
    until(page, lambda: page.locator(".menu:popover-open").count() == 1)
    page.keyboard.press("ArrowUp")
    assert page.evaluate(FOCUS) == "frame"
    refuse = "navigator.clipboard.writeText = () => Promise.reject(new Error('no'))"
    page.evaluate(f"() => {{ {refuse} }}")
    page.keyboard.press("Enter")
    line = page.locator(".menu textarea")
    line.wait_for()
    assert "copy it yourself" in page.locator(".menu .told").inner_text()
    expect(page.locator(".menu .told")).to_contain_text("LLMVIZ_FRAMES")  # no other page may
    assert re.fullmatch(
        r'<iframe src="[^"<>]*embed=attention\.[^"<>]*"[^<>]*></iframe>', line.input_value()
    )
    stop = "HTMLAnchorElement.prototype.click = () => { throw new Error('no files here') }"
    page.evaluate(f"() => {{ {stop} }}")
    page.locator(".menu [data-form=csv]").click()
    expect(page.locator(".menu .told")).to_have_text("This did not work: no files here.")
    page.keyboard.press("Escape")
    assert page.locator(".menu:popover-open").count() == 0


def test_a_saved_table_stands_at_the_row_that_the_page_chose(visit, offline, tmp_path):
    def below_the_chosen(page):
        page.locator(".lv .whole canvas[role]").focus()
        page.keyboard.press("ArrowDown")
        frames(page)
        return page.locator(".lv:has(.whole) .told").inner_text()

    visit.open("embeddings?part=lookup&show=1", ".lv .whole")
    key = "embeddings.lookup.table"
    saved = offline(save(visit.page, "html", key)[0], tmp_path)
    said = below_the_chosen(visit.page)
    assert not said.startswith("row 1,") and below_the_chosen(saved) == said
    visit.assert_clean()


def test_a_text_with_markup_is_a_text_in_every_form(visit, offline, tmp_path):
    visit.open(f"tokenization?part=cut&show=1&text={quote(HOSTILE)}", ".tok")
    page, key = visit.page, "cut.chips"
    whole = page.locator(".tok").all_inner_texts()
    cells = [cell for row in rows_of(save(page, "csv", key)[0]) for cell in row]
    assert "'=" in cells and not [
        cell for cell in cells if cell.startswith(tuple("=+-@")) and not is_number(cell)
    ]
    path, name = save(page, "html", key)
    assert re.fullmatch(r"[A-Za-z0-9.-]+", name)
    saved = offline(path, tmp_path)
    kept = saved.locator(".tok").all_inner_texts()
    assert len(kept) > 50 and kept == whole[: len(kept)]
    assert HOSTILE in saved.locator("#settings dd").all_inner_texts()
    assert saved.locator("#picture img, dd img, script[src]").count() == 0
    saved.locator(".tok").nth(1).hover()
    saved.locator(".card:not([hidden])").wait_for()
    image = save(page, "png", key)[0].read_bytes()
    box = page.locator(".lv:has(.tok)").first.bounding_box()
    size = struct.unpack(">II", image[16:24])
    assert image[:8] == b"\x89PNG\r\n\x1a\n"
    assert size[0] == round(2 * (box["width"] + 2 * MARGIN))
    assert size[1] > 2 * (box["height"] + 2 * MARGIN)  # and a title
    visit.assert_clean()


def test_a_drawing_holds_its_partsas_text_and_nothing_that_runs(visit):
    visit.open("tokenization?part=merge&show=1&word=" + quote("<b>&=@"), ".lv svg")
    path, _ = save(visit.page, "svg", "merge.tree")
    tree = ElementTree.parse(path)
    tags = {node.tag.removeprefix(SVG) for node in tree.iter()}
    assert "text" in tags and not tags & {"script", "foreignObject", "a", "image", "b"}
    names = {name for node in tree.iter() for name in node.attrib}
    assert not [name for name in names if name.startswith("on") or name.endswith("href")]
    shown = visit.page.locator(".lv svg text").all_text_contents()
    said = ["".join(node.itertext()) for node in tree.iter(f"{SVG}text")]
    assert said[-len(shown) :] == shown
    visit.assert_clean()


# The words of a picture that are seen, but for those that ask for a hand.
SEEN = """(key) => {
  const [root] = [...llmvizPictures].find(([, entry]) => entry.key === key);
  const words = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  const seen = [];
  while (words.nextNode()) {
    const at = words.currentNode.parentElement;
    const { width } = at.getBoundingClientRect();
    if (width < 2 || at.closest("style, .card, .player, p.hint")) continue;
    const parts = words.currentNode.data.split(/\\s+/);
    if (at.checkVisibility({ visibilityProperty: true })) seen.push(...parts);
  }
  return seen.filter(Boolean).sort();
}"""


OUTSIDE = """(whole) => {
  const frame = whole.getBoundingClientRect();
  const isOut = (text) => {
    const { left, right, top, bottom } = text.getBoundingClientRect();
    const [across, down] = [[left, right], [top, bottom]];
    return across.some((x) => x < frame.left - 2 || x > frame.right + 2)
      || down.some((y) => y < frame.top - 2 || y > frame.bottom + 2);
  };
  return [...whole.querySelectorAll('text')].filter(isOut).map((text) => text.textContent);
}"""


@pytest.mark.parametrize(
    ("link", "key"),
    [
        ("attention?part=trained", "attention.heads.look"),
        ("tokenization?part=merge&show=1", "merge.tree"),
        ("training?part=backprop&show=1", "training.backprop.graph"),
        ("sampling?part=beam&show=1", "sampling.beam.tree"),
    ],
)
def test_a_drawing_holds_all_that_is_seen_of_its_picture_inside_its_edges(visit, link, key):
    visit.open(link)
    page = visit.page
    drawing = save(page, "svg", key)[0].read_text("utf-8")
    said = [word for part in ElementTree.fromstring(drawing).itertext() for word in part.split()]
    assert sorted(said) == page.evaluate(SEEN, key)
    page.goto("about:blank")
    page.set_content(drawing)  # a file of its own, without the app's styles
    outside = page.locator("svg").first.evaluate(OUTSIDE)
    assert outside == []
    visit.assert_clean()


def test_a_chart_leaves_with_its_numbers_and_lives_on(visit, offline, tmp_path):
    visit.open("attention?part=steps&show=1", "[data-testid=stSlider]")
    size = visit.page.locator("[data-testid=stSliderThumbValue]").first.inner_text()
    visit.page.locator("summary:has-text('How this was measured')").last.click()
    told = offline(save(visit.page, "html", "attention-entropy")[0], tmp_path).locator("#settings")
    assert told.locator("dt:text-is('Head size d') + dd").inner_text() == size
    visit.open("history?part=memory&show=1", ".js-plotly-plot .main-svg")
    page = visit.page
    key = "history-memory-own-bars"
    press = press_of(page, key)
    page.locator(f"[data-testid=stElementContainer]:has([data-picture='{key}'])").last.hover()
    expect(press).to_have_css("opacity", "1")
    held = page.locator(f"[data-testid=stElementContainer]:has([data-picture='{key}'])").last
    assert held.evaluate("(frame) => frame.scrollHeight <= frame.clientHeight")  # nothing cut off
    drawn = page.locator(".js-plotly-plot").first
    data = drawn.evaluate(
        "(graph) => { const [{ x, y }] = graph._fullData; return [[...x], [...y]] }"
    )
    frame = pandas.read_csv(save(page, "csv", key)[0])  # a plain table: names, then rows
    assert np.allclose(frame["x"], data[0], rtol=1e-6) and list(frame["y"]) == data[1]
    image = save(page, "png", key)[0].read_bytes()
    drawn = page.evaluate(DRAWN, base64.b64encode(image).decode())
    for (first, last), size in ((drawn["columns"], "width"), (drawn["rows"], "height")):
        # A letter may reach a pixel over its own box.
        assert first >= 2 * MARGIN - 1 and last <= drawn[size] - 2 * MARGIN
    saved = offline(save(page, "html", key)[0], tmp_path)
    bars = saved.locator("#picture .main-svg .point")
    assert bars.count() == page.locator(".js-plotly-plot").first.locator(".point").count() > 0
    bars.first.hover(force=True)
    saved.locator("#picture .hoverlayer .hovertext").wait_for()
    drawing = ElementTree.parse(save(page, "svg", key)[0])
    assert "foreignObject" not in {node.tag.removeprefix(SVG) for node in drawing.iter()}
    visit.assert_clean()


def test_what_is_saved_asks_nothing_that_nobody_can_answer(visit, offline, tmp_path):
    visit.open("sampling?part=temperature", ".lv")
    page = visit.page
    assert page.get_by_text(words.mark).count()
    path, _ = save(page, "html", "sampling.softmax")
    said = offline(path, tmp_path).locator("#caption").inner_text()
    assert said and words.mark not in said and "?" not in said
    visit.assert_clean()


def test_a_picture_stands_alone_and_says_its_height(visit, tmp_path):
    page = visit.page
    page.goto(f"{visit.url}/_stcore/health")  # a page of the app's host, with a listener in it
    page.add_init_script(
        "window.heights = []; addEventListener('message', ({ data }) =>"
        " data?.llmviz === 'height' && heights.push(data))"
    )
    visit.open("attention?part=steps&embed=attention.ladder", "canvas")
    page.wait_for_function("heights.length > 0")
    settle(page)
    seen = page.evaluate(
        "[...document.querySelectorAll('h1, h2, label, textarea, [data-testid=stSidebar] *')]"
        ".filter((node) => node.checkVisibility({ visibilityProperty: true })).length"
    )
    assert seen == 0
    box = page.locator(PICTURE).bounding_box()
    told = page.evaluate("heights.at(-1)")
    assert told["picture"] == "attention.ladder"
    assert box["x"] <= 8 and 0 <= told["height"] - box["height"] <= 24
    assert page.locator(".save").count() == 0
    assert page.locator(f"{PICTURE} .detail").is_visible()
    assert arithmetic(page)
    visit.assert_clean()


def test_no_other_page_may_frame_the_app_by_default(visit):
    page = visit.page
    page.set_content(f'<iframe src="{visit.url}/"></iframe>')
    until(page, lambda: len(page.frames) == 2 and page.frames[1].url.startswith("chrome-error"))
    answer = page.request.get(f"{visit.url}/")
    assert answer.ok and "frame-ancestors 'none'" in answer.headers["content-security-policy"]
    visit.errors.clear()
