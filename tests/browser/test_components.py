"""The in-page components in a real browser: what they show, and what the hand does to them."""

import itertools
import math
import re
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import expect

from tests.browser.conftest import app
from tests.browser.hand import frames, motion, settle

DEMO = Path(__file__).parent / "apps" / "components_app.py"


@pytest.fixture(scope="module")
def address():
    with app(DEMO) as url:
        yield url


@pytest.fixture
def demo(visit):
    """Open the demo in a fresh session; every test ends with a clean page."""

    def open_at(show, theme="light", width=1440, **query):
        visit.dress(theme, width)
        more = "".join(f"&{name}={value}" for name, value in query.items())
        visit.page.mouse.move(2, 2)
        visit.page.goto(f"{visit.url}/?show={show}{more}")
        visit.page.wait_for_selector(".lv > *:not([hidden])")
        settle(visit.page, calm=50)
        return visit.page

    yield open_at
    visit.assert_clean()


def state(page):
    return page.locator("[data-testid=stText]").last.inner_text()


def wait_state(page, part):
    page.wait_for_function(
        "part => [...document.querySelectorAll('[data-testid=stText]')]"
        ".some(node => node.innerText.includes(part))",
        arg=part,
    )


def chip(page, row, index):
    return page.locator(f'.tok[data-at="{row},{index}"]').first


def follows_theme_and_width(visit):
    """Fail if what is shown does not: on a narrow dark page, and on a wide light one."""
    page = visit.page
    for theme, width in (("dark", 360), ("light", 1400)):
        visit.dress(theme, width)
        expect(page.locator(".lv.dark")).to_have_count(int(theme == "dark"))
        settle(page, calm=50)
        wider = page.evaluate(
            "() => { const main = document.querySelector('[data-testid=stMain]');"
            " return main.scrollWidth - main.clientWidth; }"
        )
        assert wider <= 1, theme


# ---- tokens


def test_chip_shows_its_bytes_and_sends_its_selection_by_key_and_by_hand(demo, visit):
    page = demo("chips")
    # arrow keys move between chips and enter selects
    chip(page, 0, 0).focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    wait_state(page, "row=0, index=2")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    wait_state(page, "row=1, index=7")
    page.keyboard.press("Escape")
    wait_state(page, "selected: None")

    # a hand points and clicks
    chip(page, 0, 1).hover()
    card = page.locator(".card")
    assert "·cat" in card.inner_text() and "20 63 61 74" in card.inner_text()
    chip(page, 0, 1).click()
    wait_state(page, "TokenSelection(row=0, index=1")
    chip(page, 0, 1).click()
    wait_state(page, "selected: None")

    # a rerun keeps the page in place
    chip(page, 0, 3).click()
    wait_state(page, "index=3")
    node = chip(page, 0, 3).element_handle()
    page.get_by_role("button", name="again").click()
    wait_state(page, "again")
    assert node.evaluate("n => n.isConnected && n.classList.contains('selected')")
    follows_theme_and_width(visit)


def test_boxes_stand_under_their_characters_and_a_hover_lights_them_in_every_row(demo, visit):
    page = demo("aligned")
    chip(page, 0, 1).hover()
    lit = page.locator(".letter.hot").all_inner_texts()
    assert "".join(lit) == "·cat"
    assert page.locator(".tok.hot").count() == 1 + 4 + 2  # a word, four characters, two triples
    boxes = page.evaluate(
        """() => {
          const root = document.querySelector('[data-testid=stBidiComponentIsolated]').shadowRoot;
          const edges = (n) => { const b = n.getBoundingClientRect(); return [b.left, b.right]; };
          const line = root.querySelector('.line');
          return {
            letters: [...line.querySelectorAll('.letter')].map(edges),
            words: [...line.querySelectorAll('.tok[data-at^="0,"]')].map(edges),
            characters: [...line.querySelectorAll('.tok[data-at^="1,"]')].map(edges),
          };
        }"""
    )
    for letter, box in zip(boxes["letters"], boxes["characters"], strict=True):
        assert abs(letter[0] - box[0]) <= 1.5 and abs(letter[1] - box[1]) <= 1.5
    first, second = boxes["words"][:2]  # "The" and " cat"
    assert abs(first[1] - boxes["letters"][2][1]) <= 1.5
    assert abs(second[0] - boxes["letters"][3][0]) <= 1.5
    follows_theme_and_width(visit)


@pytest.mark.parametrize("mode", ["chips", "aligned"])
def test_markup_in_the_text_stays_text_and_half_characters_are_hex(demo, mode):
    """And bytes that are no character are hex."""
    text = "%F0%9F%99%82<img src=x onerror=window.hit=1> <script>window.hit=1</script>"
    page = demo(mode, text=text)
    frames(page)
    assert page.evaluate("window.hit") is None
    assert page.locator(".lv img, .lv script").count() == 0
    if mode == "chips":
        assert "onerror" in page.locator(".flow").first.inner_text()
        assert chip(page, 2, 0).inner_text().split("\n")[0] == "F0 9F 99"
        assert "\ufffd" not in page.locator(".strip").inner_text()


# ---- matrices


def canvas(page, name):
    label = page.locator(f'.label:text-is("{name}")')
    return page.locator(".matrix", has=label).locator("canvas")


def evaluated(expression):
    """Compute the left side of ``left = right`` and return both sides as numbers."""
    left, right = expression.replace("−", "-").split(" = ")
    left = left.replace("×", "*").replace("÷ √4", "/ 2")
    left = re.sub(r"e\^(-?∞|-?[\d.]+)", r"exp(\1)", left).replace("-∞", "-inf")
    return eval(left, {"exp": math.exp, "inf": math.inf}), float(right)


def test_what_a_small_picture_leaves_out_takes_no_room_from_its_neighbours(demo, visit):
    page = demo("wide")
    notes = page.locator(".seen")
    for width in (1440, 390):
        visit.dress("light", width)
        visit.settle()
        assert "one number in" in notes.first.inner_text()
        for figure in page.locator("figure.matrix").all():
            box = figure.bounding_box()
            assert box["x"] + box["width"] <= width
        for note, mini in zip(notes.all(), page.locator("canvas.mini").all(), strict=True):
            assert note.bounding_box()["width"] <= max(170, mini.bounding_box()["width"]) + 1


def test_cells_open_to_arithmetic_are_kept_and_come_step_by_step(demo, visit):
    page = demo("matrices")
    arithmetic_of_every_cell_gives_its_value(page)
    first_score_reads_as_in_the_worked_example_and_a_masked_cell_says_why(page)
    click_keeps_a_cell_and_escape_lets_go(page)
    steps_bring_matrices_one_by_one(page)
    follows_theme_and_width(visit)


def arithmetic_of_every_cell_gives_its_value(page):
    for name in ("Q", "K", "V", "scores", "scaled", "weights", "context"):
        place = canvas(page, name)
        place.focus()
        rows, columns = map(int, re.findall(r"\d+", place.get_attribute("aria-label"))[:2])
        page.keyboard.press("ArrowRight")
        for _ in range(rows):
            for j in range(columns):
                text = page.locator(".detail .sum").evaluate("n => n.textContent")
                computed, shown = evaluated(text)
                assert computed == pytest.approx(shown, abs=2e-4), text
                page.keyboard.press("ArrowRight" if j + 1 < columns else "Home")
            page.keyboard.press("ArrowDown")


def first_score_reads_as_in_the_worked_example_and_a_masked_cell_says_why(page):
    canvas(page, "scores").focus()
    page.keyboard.press("ArrowRight")
    shown = page.locator(".detail .sum").evaluate("n => n.textContent")
    assert shown == "0.50×0.30 + 0.31×0.38 + 0.54×0.30 + 0.46×0.19 = 0.5172"
    # its operands stay bright and the rest fades
    faded = page.locator(".matrix.apart .label").all_inner_texts()
    bright = page.locator(".matrix:not(.apart) .label").all_inner_texts()
    assert set(bright) == {"Q", "K", "scores"} and len(faded) == 9
    canvas(page, "masked").focus()
    for _ in range(2):
        page.keyboard.press("ArrowRight")
    text = page.locator(".detail").inner_text()
    assert "−∞" in text and "a later token" in text


def click_keeps_a_cell_and_escape_lets_go(page):
    place = canvas(page, "weights")
    box = place.bounding_box()
    place.click(position={"x": box["width"] * 0.4, "y": 60})
    wait_state(page, "pinned=Cell(name='weights', row=0")
    page.mouse.move(5, 5)
    assert page.locator(".detail.kept").count() == 1
    kept = page.locator(".detail").inner_text()
    assert "takes 100% from The" in kept
    assert "weights[The, The] = exp(masked[The, The]) / Σₖ exp(masked[The, k])" in kept
    place.focus()
    page.keyboard.press("Escape")
    wait_state(page, "pinned=None")


def steps_bring_matrices_one_by_one(page):
    page.locator(".scrub").focus()
    page.keyboard.press("Home")
    assert page.locator(".matrix.ghost").count() == 11
    page.keyboard.press("ArrowRight")
    assert page.locator(".matrix:not(.ghost) .label").all_inner_texts() == ["X", "W_Q", "Q"]
    assert "what the token asks for" in page.locator(".caption").inner_text()
    wait_state(page, "step=1")
    page.keyboard.press("End")
    assert page.locator(".matrix.ghost").count() == 0


def test_hidden_cell_is_not_given_away(demo):
    page = demo("hidden")
    canvas(page, "weights").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    assert page.locator(".detail .sum").evaluate("n => n.textContent").endswith("= ?")


def test_embedding_of_many_cells_fits_and_answers(demo):
    page = demo("embedding", width=390)
    box = page.locator(".matrix canvas").bounding_box()
    assert box["width"] <= 390
    page.locator(".matrix canvas").hover(position={"x": box["width"] - 8, "y": box["height"] / 2})
    page.locator(".detail", has_text=re.compile(r"embedding token\d+, column \d+")).wait_for()


def test_thumbnails_are_the_weights_and_one_is_chosen_by_click_and_by_key(demo, visit):
    page = demo("heads")
    reading = page.evaluate(
        """() => {
          const root = document.querySelector('[data-testid=stBidiComponentIsolated]').shadowRoot;
          const canvas = root.querySelector('.heads');
          const side = (canvas.clientWidth - 62) / 12 - 5;
          const pen = canvas.getContext('2d');
          const at = (x, y) => [...pen.getImageData(62 + x * side, 20 + y * side, 1, 1).data];
          return { diagonal: at(0.5, 0.5), below: at(0.2, 0.8), above: at(0.8, 0.2) };
        }"""
    )
    ink = {place: 255 - np.mean(pixel[:3]) for place, pixel in reading.items()}
    assert ink["diagonal"] > ink["below"] + 20
    assert abs(ink["below"] - ink["above"]) < 8
    place = page.locator("canvas.heads")
    place.click(position={"x": 62 + 30, "y": 20 + 30})
    wait_state(page, "chosen: (0, 0)")
    place.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    assert "looks 1 back" in page.locator(".told").inner_text()
    page.keyboard.press("Enter")
    wait_state(page, "chosen: (1, 1)")
    page.keyboard.press("Enter")
    wait_state(page, "chosen: None")  # it was chosen again, and stays
    expect(page.locator(".spot.kept")).to_be_visible()
    follows_theme_and_width(visit)


# ---- the grid of cells


def colors(page):
    """The background of every cell, row by row."""
    return page.locator(".cells td").evaluate_all(
        "all => all.map((n) => getComputedStyle(n).backgroundColor.match(/\\d+/g).map(Number))"
    )


def test_a_cell_is_coloured_by_its_value_says_what_it_holds_and_is_chosen(demo):
    page = demo("cells")
    zero, one, minus, half, *_ = colors(page)

    def apart(a, b):
        return sum(abs(x - y) for x, y in zip(a, b, strict=True))

    assert apart(zero, half) < apart(zero, one) and apart(one, minus) > 100
    assert page.locator("td.strong").all_inner_texts() == ["one"]
    assert page.locator("tr.gap").count() == 1
    assert page.locator(".cells-legend").inner_text().split() == ["down", "up"]
    assert page.locator('td[data-at="0.0"]').inner_text() == "<b>zero</b>"
    assert page.locator("th.column").first.inner_text() == "<i>a</i>"
    told = page.locator(".cells-told")
    assert told.inner_text() == "first, b: it is 1.00"  # the chosen one, until another is hovered
    page.locator('td[data-at="1.2"]').hover()
    assert told.inner_text() == "second, c: it is 0.25"
    page.mouse.move(2, 2)
    assert told.inner_text() == "first, b: it is 1.00"

    # by click and by key
    assert state(page) == "chosen: (0, 1)"
    page.locator('td[data-at="2.0"]').click()
    wait_state(page, "chosen: (2, 0)")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")  # there is no column to the left: it stays
    assert page.locator(".cells-told").inner_text() == "second, <i>a</i>: it is 0.50"
    page.keyboard.press("Enter")
    wait_state(page, "chosen: (1, 0)")
    assert page.locator('td[aria-selected="true"]').get_attribute("data-at") == "1.0"


def test_a_narrow_grid_fits_a_phone(demo, visit):
    page = demo("cells", "light", 390, narrow=1)
    for theme in ("light", "dark"):
        visit.dress(theme, 390)
        settle(page, calm=50)
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        assert page.locator("table.narrow td").all_inner_texts() == [""] * 9
    page.locator('td[data-at="1.1"]').click()
    wait_state(page, "chosen: (1, 1)")


# ---- the film


def pieces(page):
    """Return the bytes of every token drawn."""
    drawn = page.locator(".sample .token").evaluate_all(
        "all => all.map(n => [n.textContent, n.classList.contains('bytes')])"
    )
    return [
        bytes.fromhex(text) if is_hex else text.replace("·", " ").encode() for text, is_hex in drawn
    ]


def test_film_only_ever_joins_and_never_loses_a_byte(demo, visit):
    page = demo("film", merges=20)
    page.locator(".scrub").focus()
    page.keyboard.press("Home")
    forward = [pieces(page)]
    for _ in range(20):
        page.keyboard.press("ArrowRight")
        forward.append(pieces(page))
    assert all(len(piece) == 1 for piece in forward[0])
    for before, after in itertools.pairwise(forward):
        assert b"".join(after) == b"".join(before)
        assert len(after) < len(before)
    for k in reversed(range(20)):
        page.keyboard.press("ArrowLeft")
        assert pieces(page) == forward[k]
    page.keyboard.press("End")
    assert pieces(page) == forward[-1]
    follows_theme_and_width(visit)


def test_film_shows_the_pair_chosen_and_its_ties_and_is_scrubbed_on_its_curve(demo):
    page = demo("film")
    page.locator(".scrub").focus()
    page.keyboard.press("End")
    count = int(page.locator(".player .count").inner_text().split("/")[0])
    ties = 0
    for _ in range(count):
        assert page.locator(".bar.chosen:not([hidden])").count() == 1
        fresh = page.locator(".token.fresh")
        made = page.locator(".piece.new").inner_text()
        assert fresh.count() >= 1 and set(fresh.all_inner_texts()) == {made}
        if page.locator(".bar.tied").count():
            ties += 1
            assert "whose bytes come first" in page.locator(".rule").inner_text()
        page.keyboard.press("ArrowLeft")
    assert ties > 0
    field = page.locator(".field").first
    box = field.bounding_box()
    page.mouse.move(box["x"] + 2, box["y"] + 30)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 30, steps=4)
    page.mouse.up()
    last = int(state(page).split()[-1])
    wait_state(page, f"step: {round(last / 2)} of")


def test_page_that_hands_the_step_back_does_not_pull_the_hand(demo):
    page = demo("echo")
    page.locator(".scrub").focus()
    shown = page.locator(".player .count")
    assert shown.inner_text().startswith("3 /")
    for step in range(4, 12):
        page.keyboard.press("ArrowRight")
        assert shown.inner_text().startswith(f"{step} /")
        page.wait_for_timeout(130 + 90 * (step % 4))
    wait_state(page, "step: 11 of")
    assert shown.inner_text().startswith("11 /")
    page.get_by_role("button", name="to 20").click()
    wait_state(page, "step: 20 of")
    assert shown.inner_text().startswith("20 /")
    page.locator(".scrub").focus()
    page.keyboard.press("ArrowLeft")
    wait_state(page, "step: 19 of")
    assert shown.inner_text().startswith("19 /")


# ---- trees and windows


def test_tree_joins_the_lowest_rank_first_and_plays_to_its_end(demo, visit):
    page = demo("tree")
    page.locator(".scrub").focus()
    page.keyboard.press("Home")
    assert page.locator(".between.best").inner_text() == "3"
    page.keyboard.press("ArrowRight")
    chips = page.locator(".lane").first.locator(".chip")
    assert chips.all_inner_texts() == ["·", "ki", "t", "t", "e", "n"]
    page.keyboard.press("End")
    assert chips.all_inner_texts() == ["·kit", "ten"]

    # the end that it plays to is told to Python
    page.keyboard.press("Home")
    wait_state(page, "step: 0")
    with motion(page):
        page.get_by_role("button", name="play").click()
        wait_state(page, "step: 5")
    follows_theme_and_width(visit)


def test_window_shows_its_predictions(demo, visit):
    page = demo("windows")
    page.locator("[data-window='1']").hover()
    tasks = page.locator(".task").all_inner_texts()
    assert [re.sub(r"\s", "", task) for task in tasks] == [
        "·on→·the",
        "·on·the→·mat",
        "·on·the·mat→.",
        "·on·the·mat.→·The",
    ]
    page.locator("[data-window='1']").click()
    wait_state(page, "selected: 1")
    follows_theme_and_width(visit)


def test_tokens_between_windows_are_marked_never_visited(demo):
    page = demo("windows", stride=7)
    marked = page.locator(".flow .chip.never").count()
    tokens = page.locator(".flow .chip").count()
    starts = range(0, tokens - 4, 7)
    visited = {t for start in starts for t in range(start, start + 5)}
    assert marked == tokens - len(visited) > 0


# ---- what the hand set, in a component that is made anew


def make_anew(page):
    """Move the component into a box or out of it: Streamlit takes it away and makes another one."""
    page.evaluate(
        "document.querySelectorAll('[data-testid=stBidiComponentIsolated]').forEach((host) =>"
        " host.shadowRoot.querySelectorAll('.lv').forEach((node) => (node.dataset.old = 1)))"
    )
    page.get_by_test_id("stCheckbox").locator("label").click()
    expect(page.locator(".lv[data-old]")).to_have_count(0)
    page.wait_for_selector(".lv > *:not([hidden])")
    settle(page, calm=50)
    frames(page)


def zoomed(page):
    return page.locator(".lv[data-zoom]").get_attribute("data-zoom")


def zoom(page):
    box = page.locator("canvas.over").bounding_box()
    page.mouse.move(box["x"] + 200, box["y"] + 100)
    page.mouse.down()
    page.mouse.move(box["x"] + 500, box["y"] + 120)
    page.mouse.up()
    assert zoomed(page)


def test_a_zoom_lasts_until_the_hand_ends_it(demo):
    page = demo("curve", move=1)
    make_anew(page)
    assert zoomed(page) == ""
    zoom(page)
    before = zoomed(page)
    make_anew(page)
    assert zoomed(page) == before
    page.get_by_role("button", name="Show all").click()
    make_anew(page)
    assert zoomed(page) == ""
    zoom(page)
    for axis in ("tokens", "steps"):  # which ends it, also for the axis that it was made on
        page.get_by_text(axis, exact=True).click()
        assert zoomed(page) == ""
    make_anew(page)
    assert zoomed(page) == ""
    zoom(page)
    page.get_by_text("tokens", exact=True).click()
    make_anew(page)
    assert page.get_by_label("tokens", exact=True).is_checked() and zoomed(page) == ""


def look_closer(part):
    part.locator("canvas.map").press("+")
    part.locator("input.find").fill("be")


def look_back(part):
    part.locator(".player .icon").first.click()


# A component of the demo, what the hand does to it, and where that is seen.
SET = {
    "points": (look_closer, ["canvas.map", "data-scale"]),
    "film": (lambda part: part.locator(".speed").click(), [".speed", ""]),
    "beam": (look_back, [".told", ""]),
    "tiles": (lambda part: part.locator(".tiles-row").first.click(), [".tiles-rows", ""]),
    "descent": (lambda part: part.locator(".value[data-row=w]").click(), [".update .told", ""]),
    "text": (lambda part: part.locator(".tok").nth(1).click(), [".panel", ""]),
}


def test_what_only_the_component_knows_lasts(demo):
    page = demo(",".join(SET), move=1)
    hosts = page.get_by_test_id("stBidiComponentIsolated")
    expect(hosts).to_have_count(len(SET))

    def seen(n, part, attribute):
        node = hosts.nth(n).locator(part).first
        return node.get_attribute(attribute) if attribute else node.evaluate("n => n.outerHTML")

    def all_seen():
        expect(page.locator(".lv:has(> *)")).to_have_count(len(SET))
        frames(page)
        return {show: seen(n, *place) for n, (show, (_, place)) in enumerate(SET.items())}

    untouched = all_seen()
    make_anew(page)
    assert all_seen() == untouched
    for n, (act, _) in enumerate(SET.values()):
        act(hosts.nth(n))
    touched = all_seen()
    assert not [show for show in SET if touched[show] == untouched[show]]
    make_anew(page)
    assert all_seen() == touched
    assert page.locator("input.find").input_value() == "be"
    assert page.locator(".found").inner_text() == "2 found"
