"""The picture on the first screen of a chapter, under the hand."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from benchmarks.first_screen import PHONE, WIDE

IN_VIEW = """() => {
    const box = document.querySelector("[class*='st-key-lv-st']").getBoundingClientRect();
    return Math.min(box.bottom, innerHeight) - Math.max(box.top, 0);
}"""


@pytest.mark.parametrize("chapter", ["sampling?part=temperature", "discoveries?part=grokking"])
def test_a_look_changes_the_picture_which_is_in_view_then_and_the_link(visit, chapter):
    """A small picture stays there on a wide page; else the page comes back to it."""
    page = visit.page
    page.set_viewport_size(WIDE)
    sampling = "temperature" in chapter
    visit.open(f"{chapter}&temperature=2" if sampling else f"{chapter}&show=1")
    if sampling:
        page.get_by_text("Show me without an answer").first.click()
        visit.settle()
        page.get_by_role("button", name="T = 0.2").click()
        page.wait_for_function("location.search.includes('temperature=0.2')")
        expect(page.locator(".value.num")).to_have_text("0.20")
        expect(page.locator("button.look.on")).to_have_count(1)
    for size, n in ((WIDE, 1), (PHONE, 0)):
        page.set_viewport_size(size)
        visit.settle()
        look = page.locator("button.look").nth(n)
        look.evaluate("node => node.scrollIntoView({ block: 'center' })")
        if sampling and size == WIDE:
            assert page.evaluate(IN_VIEW) > 300
        look.click()
        page.wait_for_function(f"() => ({IN_VIEW})() > 200")
        visit.settle()


def test_a_guess_is_dragged_on_the_picture_or_set_by_keys_and_what_is_true_stands_beside_it(visit):
    visit.page.set_viewport_size(WIDE)
    visit.open("tokenization?part=cut")
    handle = visit.page.locator("input.handle")
    done = visit.page.locator("button.done")
    expect(done).to_be_disabled()
    handle.focus()
    for _ in range(3):
        visit.page.keyboard.press("ArrowRight")
    expect(done).to_be_enabled()
    box = handle.bounding_box()
    middle = box["y"] + box["height"] / 2
    visit.page.mouse.move(box["x"] + box["width"] / 2, middle)
    visit.page.mouse.down()
    visit.page.mouse.move(box["x"] + box["width"] * 0.9, middle, steps=4)
    visit.page.mouse.up()
    done.click()
    expect(visit.page.get_by_text("You said")).to_be_visible()
    expect(handle).to_have_count(0)
    expect(visit.page.locator(".own")).to_have_count(1)
    expect(visit.page.locator(".row .bar")).to_have_count(2)


def test_a_guess_is_a_click_on_a_cell_of_the_row_that_asks(visit):
    visit.page.set_viewport_size(WIDE)
    visit.open("attention?part=masks&letters=amina")
    cells = visit.page.locator("canvas.heat").first
    cells.focus()
    for key in ["Home", *["ArrowDown"] * 3, *["ArrowRight"] * 4]:  # row 3 guesses column 4
        visit.page.keyboard.press(key)
    visit.page.keyboard.press("Enter")
    expect(
        visit.page.get_by_text("You said “n”, column 4, and it is “n”, column 4.")
    ).to_be_visible()
    expect(visit.page.get_by_text("Make a mask")).to_be_visible()


def test_each_line_of_a_drawn_guess_has_a_mark_of_its_own_in_the_legend(visit):
    visit.open("training?part=curves")
    page = visit.page
    plot = page.locator("canvas.plot").first
    done = page.get_by_role("button", name="That is my guess")  # and another one, of the race below
    plot.focus()
    for key in ("ArrowUp", "ArrowRight", "ArrowRight"):
        page.keyboard.press(key)
    done.first.click()
    expect(done).to_have_count(1)
    visit.settle()
    looks = "['stroke', 'stroke-dasharray'].map((name) => path.getAttribute(name)).join()"
    legend = page.locator(".legend").first
    marks = legend.locator(".swatch path")
    marks = marks.evaluate_all(f"(paths) => paths.map((path) => {looks})")
    assert len(marks) >= 4 and len(set(marks)) == len(marks)  # two more that one might think
    expect(legend.locator(".entry").last).to_have_text("your guess")


def test_a_line_that_is_drawn_through_what_was_measured_goes_the_same_way(visit):
    visit.page.set_viewport_size(WIDE)
    visit.open("discoveries?part=steering", "canvas.plot.open")
    plot = visit.page.locator("canvas.plot.open").bounding_box()

    def at(dose: float, kept: float) -> tuple[float, float]:
        across, up = (dose + 1) / 3, kept
        x = plot["x"] + 56 + across * (plot["width"] - 72)
        return x, plot["y"] + 12 + (1 - up) * (plot["height"] - 56)

    visit.page.mouse.move(*at(0.4, 0.9))
    visit.page.mouse.down()
    for dose, kept in ((0.5, 0.89), (1, 0.29), (2, 0.01)):
        visit.page.mouse.move(*at(dose, kept), steps=12)
    visit.page.mouse.up()
    visit.page.get_by_role("button", name="That is my guess").click()
    expect(visit.page.get_by_text("Your guess goes the same way")).to_be_visible()
    visit.assert_clean()


def test_a_guess_beside_a_picture_that_took_long_is_answered_at_once(visit):
    visit.page.set_viewport_size(WIDE)
    visit.open("discoveries?part=circuit", "input.handle")
    visit.settle()
    handle = visit.page.locator("input.handle")
    handle.focus()
    for _ in range(9):
        visit.page.keyboard.press("ArrowRight")
    visit.page.get_by_role("button", name="That is my guess").click()
    expect(visit.page.get_by_text("You said")).to_be_visible()
    expect(visit.page.get_by_text("Show me without an answer")).to_have_count(0)
    visit.assert_clean()


def test_colours_of_a_strip_have_no_scale_where_nothing_says_of_what(visit):
    visit.open("training?part=loss", ".tok")
    assert not visit.page.locator(".ramp").count()


WIDTHS = "(nodes) => nodes.map((node) => node.getBoundingClientRect().width)"


@pytest.mark.parametrize(
    ("chapter", "bar", "track", "said"),
    [
        (
            "sampling?part=temperature&temperature=30.0",
            *(".probability .level", ".probability .track", ".cell.probability > span"),
        ),
        ("sampling?part=loop&moment=4", ".loop-level", ".loop-track", ".num:has(+ .loop-track)"),
        ("sampling?part=writing&written=3", ".choice .level", ".choice", ".choice .num"),
        ("?model=tiny-world-gpt", ".bar", ".rail:visible", ".bar ~ .num"),
    ],
)
def test_a_bar_of_a_chance_is_as_long_as_it_among_all(visit, chapter, bar, track, said):
    writing = "writing" in chapter
    visit.open(f"{chapter}&show=1", ".tok" if writing else track)
    page = visit.page
    if writing:
        page.locator(".tok[data-at='0']").first.click()
        page.wait_for_selector(track)
    widths = [page.locator(part).evaluate_all(WIDTHS) for part in (bar, track)]
    chances = [
        float(re.sub("[^0-9.]", "", text) or 0) / 100
        for text in page.locator(said).all_text_contents()
    ]
    shares = [part / whole for part, whole in zip(*widths, strict=True)]
    assert len(shares) > 2 and max(chances) < 1
    assert shares == pytest.approx(chances, abs=0.02)


EDGES = Path(__file__).with_name("edges.js").read_text("utf-8")
TITLES = f"(canvases) => {{ {EDGES}; return titlesOverTexts(canvases); }}"


@pytest.mark.parametrize(
    "chapter", ["embeddings?part=word2vec&show=1", "training?part=curves&show=1"]
)
def test_no_title_of_an_axis_stands_over_its_numbers(visit, chapter):
    visit.open(chapter, "canvas")
    visit.page.evaluate(f"() => {{ {EDGES}; watchCanvases(); }}")
    visit.page.set_viewport_size({"width": 1300, "height": 900})  # all is drawn anew
    canvases = visit.page.locator("canvas")
    for nearer in (0, 12):  # numbers of more digits
        for _ in range(nearer):
            canvases.first.press("+")
        visit.page.wait_for_timeout(300)  # a picture follows at the next frames
        titles = canvases.evaluate_all(TITLES)
        assert titles and [over for _, *over in titles if over] == []


def test_both_ends_of_a_head_s_long_look_are_in_its_strip(visit):
    visit.page.set_viewport_size(WIDE)
    visit.open("discoveries?part=circuit&show=1", ".lines .arc")
    visit.settle()
    outside = visit.page.locator(".lines .arc").evaluate_all("""(arcs) => arcs.flatMap((arc) => {
      const [own, strip] = [arc, arc.closest(".lines")].map((node) => node.getBoundingClientRect());
      return [strip.left - own.left, own.right - strip.right];
    })""")
    assert outside and max(outside) <= 0
