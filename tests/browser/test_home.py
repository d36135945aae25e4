"""The machine under a hand: typing, pointing, heads, the film, writing, links."""

from __future__ import annotations

import math
import re
from itertools import pairwise

import pytest
from playwright.sync_api import expect

from llmviz.course.lessons import ways
from llmviz.course.lessons.home import below
from llmviz.course.ui import course
from tests.browser.conftest import app
from tests.browser.hand import motion, settle, until
from tests.pages.small_model import HEADS, LAYERS, make_checkpoint, make_real

TEXT = "The cat sat on the mat."


@pytest.fixture(scope="module")
def address(small_url):
    return small_url


@pytest.fixture
def home(visit):
    """Open the home page in a fresh session and wait for the model; each test ends clean."""

    def open_at(query="", theme="light", width=1440):
        visit.dress(theme, width)
        visit.page.mouse.move(2, 2)
        visit.open(query)
        visit.page.wait_for_selector(".band", state="attached")
        visit.settle()
        return visit.page

    yield open_at
    visit.assert_clean()


def chips(page) -> list[str]:
    return page.locator(".chip:not(.ghost)").all_inner_texts()


def shares(page) -> list[str]:
    return page.locator(".share").all_text_contents()


# What a server runs first: torch is imported once a file lies there, however fast the machine is.
HELD_BACK = """
import sys, time
from importlib.machinery import PathFinder
from pathlib import Path

class HeldBack:
    def find_spec(self, name, path=None, target=None):
        spec = PathFinder.find_spec(name) if name == "torch" else None
        if spec is not None:
            execute = spec.loader.exec_module

            def wait(module):
                while not Path(__file__).with_name("go").exists():
                    time.sleep(0.02)
                execute(module)

            spec.loader.exec_module = wait
        return spec

sys.meta_path.insert(0, HeldBack())
"""


@pytest.mark.slow
def test_a_fresh_server_opens_a_lesson_by_its_link_and_draws_tokens_before_the_model(
    visit, tmp_path_factory
):
    folder, late = tmp_path_factory.mktemp("cold"), tmp_path_factory.mktemp("late")
    make_checkpoint(folder)
    (late / "sitecustomize.py").write_text(HELD_BACK, "utf-8")
    with app(LLMVIZ_CHECKPOINTS=str(folder), PYTHONPATH=str(late)) as url:
        visit.url = url
        visit.open("glossary?find=softmax")
        visit.page.wait_for_function(
            "() => document.querySelector('[data-testid=stSidebar]')"
            "?.innerText.includes('The whole machine')",
        )
        field = visit.page.locator("[data-testid=stMain] input[type=text]")
        expect(field).to_have_value("softmax")  # the browser may draw it before its value
        visit.assert_clean()
        visit.page.goto("about:blank")
        visit.open()
        visit.page.wait_for_selector(".wait")  # torch is still on its way
        assert len(chips(visit.page)) > 4
        (late / "go").touch()
        visit.page.wait_for_selector(".band", state="attached")
        assert visit.page.locator(".wait").count() == 0
        visit.assert_clean()


# What moved without a hand, from the first paint on, as the browser itself measures it.
SHIFT = """() => new Promise((resolve) => {
  let sum = 0;
  const add = (list) => list.forEach((entry) => (sum += entry.hadRecentInput ? 0 : entry.value));
  new PerformanceObserver((list) => add(list.getEntries())).observe(
    { type: 'layout-shift', buffered: true });
  setTimeout(() => resolve(sum), 300);
})"""


def test_the_page_keeps_its_place_while_it_opens_and_asks_for_nothing_that_is_not_there(
    home, visit
):
    missing = []
    visit.page.on("response", lambda answer: answer.status >= 400 and missing.append(answer.url))
    for width in (1440, 390):
        visit.page.goto("about:blank")
        assert home(width=width).evaluate(SHIFT) < 0.1, width
    for path in ("tokenization?part=cut&show=1", "glossary?find=softmax"):
        visit.page.goto("about:blank")
        visit.open(path)
    assert missing == []


def test_what_is_typed_is_drawn_and_hand_keys_and_film_lead_through_the_stages_to_a_lesson(home):
    page = home("?layer=1")
    rows_follow_what_is_typed_and_markup_stays_text(page)
    type_text(page, TEXT)
    until(page, lambda: "".join(chips(page)).endswith("mat."))
    a_curve_tells_its_weight(page)
    page.mouse.move(2, 2)
    the_film_runs_through_the_stages_and_stops(page)
    page.keyboard.press("End")
    settle(page)
    the_hand_and_the_keys_move_rows_and_a_stage_leads_to_its_lesson(page)


def type_text(page, text: str) -> None:
    box = page.locator("textarea").first
    box.fill(text)
    box.press("Enter")


def rows_follow_what_is_typed_and_markup_stays_text(page):
    before, predicted = chips(page), page.locator(".word").all_text_contents()
    type_text(page, "<img src=x onerror=\"document.title='run'\">")
    until(page, lambda: chips(page)[-1].endswith(">"))
    assert chips(page) != before and page.locator(".word").all_text_contents() != predicted
    assert page.title() != "run"
    assert page.locator(".machine img").count() == 0


def the_hand_and_the_keys_move_rows_and_a_stage_leads_to_its_lesson(page):
    resting = shares(page)
    said = page.locator(".title .sub").last.inner_text()
    asked = []
    page.on("websocket", lambda socket: asked.append(socket))
    page.locator(".chip").nth(3).hover()
    until(page, lambda: shares(page) != resting)
    assert page.locator(".title .sub").last.inner_text() != said
    assert page.locator(".strand.on").count() == 2 * LAYERS + 2
    assert page.locator(".machine.pointed").count() == 1
    page.mouse.move(2, 2)
    until(page, lambda: shares(page) == resting)
    assert asked == []

    # the keyboard
    page.locator(".machine").focus()
    page.keyboard.press("ArrowUp")
    on = page.locator(".chip.on").inner_text()
    assert on == chips(page)[-2]
    page.keyboard.press("Home")
    assert page.locator(".player .count").inner_text().startswith("0 /")
    page.keyboard.press("End")
    assert page.locator("g.ahead").count() == 0

    # a stage leads to its lesson
    page.locator("a.name").first.click()
    page.wait_for_url(re.compile(r"/tokenization"))
    page.wait_for_selector("h1")
    assert page.locator("textarea").first.input_value() == TEXT


def a_curve_tells_its_weight(page):
    x, y, thick = page.evaluate(
        """() => {
          const host = [...document.querySelectorAll('*')]
            .find(node => node.shadowRoot?.querySelector('.machine'));
          const root = host.shadowRoot;
          const wide = root.querySelector('.panel.wide').getBoundingClientRect();
          const curves = [...root.querySelectorAll('.curve')].filter(path => {
            const box = path.getBoundingClientRect();
            return box.left > wide.left && box.right < wide.right && box.width > 60;
          });
          const size = path => parseFloat(path.style.strokeWidth);
          curves.sort((a, b) => size(b) - size(a));
          const at = curves[0].getPointAtLength(curves[0].getTotalLength() / 2);
          const paper = root.querySelector('.paper').getBoundingClientRect();
          return [paper.left + at.x, paper.top + at.y, size(curves[0])];
        }"""
    )
    page.mouse.move(x, y)
    page.locator(".card:not([hidden])").wait_for()
    card = page.locator(".card:not([hidden])").inner_text()
    weight = float(re.search(r"weight\s+([\d.]+)", card).group(1))
    assert abs(9 * weight - thick) < 0.01  # a weight of 1 is nine pixels


def the_film_runs_through_the_stages_and_stops(page):
    count = page.locator(".player .count")
    last = 2 * LAYERS + 4
    assert count.inner_text() == f"{last} / {last}"
    with motion(page):
        page.get_by_role("button", name="play").click()
        until(page, lambda: count.inner_text() == f"0 / {last}")
        page.get_by_role("button", name="pause").click()
    page.locator(".machine").focus()
    page.keyboard.press("Home")
    for step in (1, 2):  # with less motion a press is a step
        page.get_by_role("button", name="play").click()
        page.wait_for_timeout(3200)  # longer than a step of the film
        assert count.inner_text() == f"{step} / {last}"
    page.locator(".machine").focus()
    page.keyboard.press("Home")
    assert "tokens" in page.locator(".say").inner_text()
    for stage in range(1, last + 1):
        page.get_by_role("button", name="one step on").click()
        until(page, lambda stage=stage: count.inner_text() == f"{stage} / {last}")
        assert "{" not in page.locator(".say").inner_text()
        if stage < last:
            until(page, lambda stage=stage: page.locator("g.ahead").count() == last - stage)
    page.get_by_role("button", name="one step back").click()
    page.wait_for_url(re.compile(rf"step={last - 1}"))
    page.locator(".machine").focus()


def test_a_click_on_a_cell_leaves_its_arithmetic_open_and_the_numbers_add_up(home):
    page = home(f"?text={TEXT}")
    card = page.locator(".card:not([hidden])")

    box = page.locator(".rail").nth(1).bounding_box()  # of the second token of the list
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.move(2, 2)
    told = card.inner_text()
    score, highest, total = map(
        lambda text: float(text.replace("−", "-")),
        re.search(r"e\^\((−?[\d.]+) − \(?(−?[\d.]+)\)?\) ÷ ([\d.]+)", told).groups(),
    )
    share = float(re.search(r"probability\s+([\d.]+)", told).group(1))
    assert math.exp(score - highest) / total == pytest.approx(share, rel=0.02)
    expect(card).to_have_class(re.compile("kept"))


def test_heads_layers_and_rows_go_into_the_link_and_come_back(home):
    page = home(f"?text={TEXT}")
    widths = page.locator(".curve").first.get_attribute("style")
    page.locator(".opener:visible").first.click()
    pips = page.locator(".pips:visible .pip")
    until(page, lambda: pips.count() == HEADS)
    other = next(
        h for h in range(HEADS) if "on" not in (pips.nth(h).get_attribute("class") or "").split()
    )
    pips.nth(other).click()
    page.locator(".chip").nth(2).click()
    page.mouse.move(2, 2)
    page.wait_for_url(re.compile(r"row=2"))
    page.wait_for_url(re.compile(r"heads="))
    curve = page.locator(".curve").first
    until(page, lambda: curve.get_attribute("style") != widths or "layer=1" in page.url)
    settle(page)
    expected = (shares(page), page.locator(".chip.on").inner_text())
    again = home("?" + page.url.split("?")[1])
    assert (shares(again), again.locator(".chip.on").inner_text()) == expected
    assert again.locator(".pips:visible .pip.on").inner_text() == str(other)


def test_write_it_appends_the_amber_token_and_writing_ten_can_be_stopped(home):
    page = home("?text=The cat")
    rows = len(chips(page))
    ghost = page.locator(".ghost").inner_text()
    page.locator(".actions .write").click()
    expect(page.locator(".chip:not(.ghost)")).to_have_count(rows + 1)
    assert chips(page)[-1] == ghost
    until(page, lambda: page.locator("textarea").first.input_value() != "The cat")
    settle(page)

    # a run of ten
    rows = len(chips(page))
    page.get_by_text("Write 10").click()
    page.locator(".actions .plain", has_text="Stop").dispatch_event("pointerdown")
    page.wait_for_selector(".actions .write")
    settle(page, calm=500)
    text = page.locator("textarea").first.input_value()
    page.wait_for_timeout(1200)
    assert page.locator("textarea").first.input_value() == text
    assert len(chips(page)) < rows + 10


def test_nobody_types_while_the_model_writes_nor_is_what_was_typed_written_over(home):
    page = home("?text=The cat")
    nobody_types_into_the_box_while_the_model_writes(page)
    what_is_typed_until_the_box_is_locked_is_not_written_over(page)


def nobody_types_into_the_box_while_the_model_writes(page):
    box = page.locator("textarea").first
    page.get_by_text("Write 10").click()
    expect(box).to_be_disabled()
    page.locator(".actions .plain", has_text="Stop").dispatch_event("pointerdown")
    expect(box).to_be_enabled()
    settle(page)
    type_text(page, "Typed after it")
    page.wait_for_url(re.compile("Typed"))
    settle(page, calm=1000)
    assert box.input_value() == "Typed after it"


def what_is_typed_until_the_box_is_locked_is_not_written_over(page):
    box = page.locator("textarea").first
    # The first without leaving the box, as on a server that is slow to lock it.
    for press in ("dispatch", "hand"):
        type_text(page, "The cat")
        settle(page)
        box.press_sequentially(" and I")
        write = page.get_by_text("Write 10")
        write.dispatch_event("click") if press == "dispatch" else write.click()
        page.wait_for_url(re.compile(r"and\+I"))  # what was typed has been read
        if press == "hand":  # a click is not lost, either
            page.wait_for_url(re.compile(r"and\+I.+"))
            page.locator(".actions .plain", has_text="Stop").dispatch_event("pointerdown")
        expect(box).to_be_enabled()
        settle(page, calm=500)
        expect(box).to_have_value(re.compile("^The cat and I"))


def test_a_phone_shows_the_way_of_one_token_and_the_course_is_a_path(home, visit):
    page = home(theme="light", width=390)
    shows_one_tokens_way(page)
    visit.dress("dark", 390)
    visit.settle()
    shows_one_tokens_way(page)
    # nothing of the machine is cut in a window that is not wide
    for width in (1280, 1366):
        visit.dress("light", width)
        visit.settle()
        cut = "(e) => e.scrollWidth - e.clientWidth"
        assert page.locator(".scroll").evaluate(cut) <= 1, width
    visit.dress("dark", 390)
    visit.settle()
    # the hour comes first, each stop a link; the other ways wait behind a line
    hour = [f"{stop.lesson}?part={stop.chapter}" for stop in course.stops(ways.HOUR)]
    links = page.locator(".way-chapter:visible")
    assert [link.get_attribute("href") for link in links.all()] == hour
    longer = page.get_by_test_id("stExpander").filter(has_text="Ten lessons, or everything")
    longer.get_by_text("Ten lessons, or everything").click()
    expect(longer.locator(".way-title")).to_have_text([one.title for one in below.lessons()])
    tops = [stop.bounding_box()["y"] for stop in longer.locator(".way-stop").all()]
    assert tops == sorted(tops)
    sampling = longer.locator(".way-stop", has=page.get_by_text("From scores to text"))
    sampling.locator(".way-top").click(position={"x": 60, "y": 40})
    page.wait_for_url("**/sampling*")


def shows_one_tokens_way(page):
    """Fail unless all stages of one token stand below each other, and a tap shows another's."""
    expect(page.locator(".scroll")).to_be_hidden()
    stops = page.locator(".way .stop")
    boxes = [stop.bounding_box() for stop in stops.all()]
    assert len(boxes) == 3 + LAYERS + 1
    assert all(below["y"] >= above["y"] + above["height"] - 1 for above, below in pairwise(boxes))
    assert all(box["x"] + box["width"] <= 391 for box in boxes)
    chips = page.locator(".way .chip")
    last = chips.last.inner_text()
    expect(stops.nth(1)).to_contain_text(f"{last} →")
    chips.nth(1).click()
    expect(stops.nth(1)).to_contain_text(f"{chips.nth(1).inner_text()} →")
    expect(chips.nth(1)).to_have_attribute("aria-pressed", "true")
    chips.last.click()
    expect(stops.nth(1)).to_contain_text(f"{last} →")
    outside = page.evaluate(
        "() => { const main = document.querySelector('[data-testid=stMain]');"
        " return main.scrollWidth - main.clientWidth; }"
    )
    assert outside <= 1


def test_the_picture_follows_what_is_typed_and_the_caret_stays(home):
    page = home("?text=The cat")
    box = page.locator("textarea").first
    box.focus()
    page.keyboard.press("Home")
    page.keyboard.type("So", delay=20)
    page.keyboard.type(" then ", delay=400)  # slower than the rest: each letter is drawn
    page.wait_for_url(re.compile(r"text=So\+then\+The\+cat"))
    settle(page)
    assert box.input_value() == "So then The cat"
    assert box.evaluate("box => [document.activeElement === box, box.selectionStart]") == [True, 8]
    page.keyboard.press("Enter")  # sends, and makes no new line
    assert box.input_value() == "So then The cat"
    page.keyboard.press("Shift+Enter")
    page.wait_for_url(re.compile(r"So\+then\+%0AThe"))


# Texts and shapes of the picture that lie outside its frame, by how many pixels.
OUTSIDE = """(stage) => {
    const frame = stage.closest(".scroll").getBoundingClientRect();
    const nodes = stage.querySelectorAll("text, .chip, .title .name, .rail, .curve, .panel, .loop");
    return [...nodes].map((node) => [node.getBoundingClientRect(), node])
        .filter(([box, node]) => box.width && getComputedStyle(node).visibility !== "hidden")
        .filter(([box]) => box.right > frame.right + 1 || box.left < frame.left - 1)
        .map(([box, node]) => `${node.getAttribute("class")}: ${box.left} to ${box.right}`);
}"""


@pytest.mark.parametrize("width", [1440, 1024, 720, 640])
def test_thirty_layers_lie_within_the_frame_of_the_picture(visit, deep_url, width):
    visit.url = deep_url
    visit.dress("light", width)
    visit.open()
    visit.page.wait_for_selector(".band", state="attached")
    visit.settle()
    page = visit.page
    assert page.locator(".panel").count() == 30
    assert page.locator(".machine").evaluate(OUTSIDE) == []
    # Each layer can be opened, though its strip is thin.
    page.locator(".step:visible").last.click()
    opened = page.locator(".title.layer.wide .name").inner_text()
    page.wait_for_url(re.compile(r"layer=\d+"))
    assert opened.split()[1] in page.url
    for place in (0.02, 0.3, 0.5, 0.95):  # its number, its curves, a row, where nothing is drawn
        strip = page.locator(".panel").nth(2 if place > 0.3 else 27).bounding_box()
        x = strip["x"] + strip["width"] / 2
        page.mouse.click(x, strip["y"] + place * min(strip["height"], 400))
        layer = "2" if place > 0.3 else "27"
        expect(page.locator(".title.layer.wide .name")).to_contain_text(f"Layer {layer}")
    assert page.locator(".machine").evaluate(OUTSIDE) == []
    visit.assert_clean()


@pytest.fixture(scope="module")
def deep_url(tmp_path_factory):
    """An app that has what stands for the real model."""
    models = tmp_path_factory.mktemp("models")
    make_real(models)
    with app(ahead=False, LLMVIZ_MODELS=str(models)) as url:
        yield url


def test_a_phone_shows_one_layer_of_thirty_and_leads_to_the_others(visit, deep_url):
    visit.url = deep_url
    visit.dress("light", 390)
    visit.open()
    layers = visit.page.locator(".stop:visible", has=visit.page.locator(".pips"))
    expect(layers).to_have_count(1)
    before = layers.locator(".name").inner_text()
    layers.locator(".step").last.click()
    expect(layers.locator(".name")).not_to_have_text(before)
    visit.page.wait_for_url(re.compile(r"layer=\d+"))
    write = visit.page.locator(".actions .write").bounding_box()
    assert write["y"] < 2 * 844  # not thirty layers below
    visit.assert_clean()
