"""The chapters on the loss, descent, backpropagation and failures under a hand."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
import torch
from playwright.sync_api import expect

from llmviz.course.lessons.training import charted_runs
from llmviz.course.lessons.training.descent import words
from llmviz.course.lessons.training.optimizers import surface
from llmviz.course.lessons.training.optimizers import words as surface_words
from llmviz.training.backprop import TARGET, autograd, example
from llmviz.training.curves import CurveFile, in_unit, smooth
from llmviz.training.descent import descend, rates_between
from llmviz.training.optimizers import Hyper
from llmviz.training.surfaces import SURFACES
from tests.browser.hand import drag, frames, let_go, until

PAGE = "training"
QUERY = "show=1&"  # with what questions cover
# By how many pixels the page is wider than its window, and whether the window is that of a phone.
TOO_WIDE = """() => {
    const main = document.querySelector('[data-testid=stMain]');
    return main.scrollWidth - main.clientWidth;
}"""
NARROW = "() => document.querySelector('[data-testid=stMain]').clientWidth <= 390"


@pytest.fixture(scope="module")
def address(small_url):
    return small_url


def wait_link(page, part: str) -> None:
    page.wait_for_function("part => location.href.includes(part)", arg=part)


def number(text: str) -> float:
    return float(text.replace("−", "-"))


def ways(name: str, stop: int, start: tuple[float, float] | None = None):
    field = SURFACES["ravine"]
    rates = rates_between(surface.RATES.low, surface.RATES.high, surface.RATES.count)[
        stop : stop + 1
    ]
    place = torch.tensor(start or field.start, dtype=torch.float64)
    hyper = Hyper(beta2=0.99)
    return descend(name, field.height, field.gradient, place, rates, surface.STEPS, hyper)


def cell(page, row: str, weight: int) -> float:
    text = page.locator(f".numbers .value[data-row={row}][data-weight='{weight}']").inner_text()
    return number(text)


def test_a_parabola_a_surface_and_letters_follow_the_hand(lesson, window):
    begins = "opts=sgd,momentum&surf_at=10&surf_who=1&ltr_at=0&ltr_who=1"
    page = lesson(f"part=descent&{begins}", "canvas.curve")
    a_parabola_says_what_each_rate_does_and_draws_no_loss_along_its_edge(page)
    page.get_by_role("radio", name="Optimizers", exact=True).click()
    page.locator(".balls").wait_for()
    window.settle()
    the_surface_follows_the_hand_and_the_link_keeps_it(page, window)
    one_optimizer_gets_its_own_rate_and_the_ball_another_start(page, window)
    page.get_by_role("radio", name="A neuron").click()
    page.locator("canvas.plane").wait_for()
    window.settle()
    letters_are_walked_through_and_chosen(page, window)


def the_surface_follows_the_hand_and_the_link_keeps_it(page, window):
    address = page.url
    for stop in (12, 20):
        drag(page, "learning rate", stop)
        found = ways("momentum", stop)
        for p in (0, 1):
            assert cell(page, "w", p) == pytest.approx(found.path[0, 10, p].item(), abs=2e-4)
            velocity = found.values["velocity"][0, 10, p].item()
            assert cell(page, "velocity", p) == pytest.approx(velocity, abs=2e-4)
    page.locator(".value[data-row=velocity][data-weight='0']").hover()
    assert "0.9 × " in page.locator(".told").inner_text()
    assert page.url == address  # nothing was let go
    let_go(page, "learning rate")
    wait_link(page, "surf_lr=20")
    window.settle()
    here = cell(page, "w", 0)
    page.goto(page.url)
    page.wait_for_selector(".numbers .value")
    window.settle()
    assert cell(page, "w", 0) == here


def one_optimizer_gets_its_own_rate_and_the_ball_another_start(page, window):
    page.locator(".scrub").first.press("Home")
    wait_link(page, "surf_at=0")
    strip = page.locator("canvas.strip[data-walker=momentum]")
    box = strip.bounding_box()
    strip.click(position={"x": 12, "y": box["height"] / 2})
    page.wait_for_function("() => /surf_lr=\\d+(,|%2C)\\d+/.test(location.href)")
    window.settle()
    ground = page.locator("canvas.balls")
    size = ground.bounding_box()
    ground.click(position={"x": size["width"] / 2, "y": size["height"] / 4})
    wait_link(page, "from=")
    window.settle()
    low, high = SURFACES["ravine"].low, SURFACES["ravine"].high
    assert cell(page, "w", 0) == pytest.approx((low[0] + high[0]) / 2, abs=0.05)
    assert cell(page, "w", 1) == pytest.approx(high[1] - (high[1] - low[1]) / 4, abs=0.05)


# Notes how high each text was written last on any canvas.
NOTE_TEXTS = """() => {
    const { fillText } = CanvasRenderingContext2D.prototype;
    window.texts = {};
    CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
        window.texts[text] = y;
        fillText.call(this, text, x, y);
    };
}"""


def a_parabola_says_what_each_rate_does_and_draws_no_loss_along_its_edge(page):
    for stop, says in ((2, "Too small"), (37, "overshoots"), (40, "diverges")):
        drag(page, "learning rate", stop)
        assert says in page.locator("p.line").inner_text()

    # a loss below the picture, and one above it
    grid = [line.get_attribute("d") for line in page.locator(".chart .grid-line").all()]
    heights = [float(line.split()[1].split("H")[0]) for line in grid]
    top, edge = min(heights) + 0.1, max(heights) - 0.1
    ends = []
    for stop in (*range(25, 33), 40):
        drag(page, "learning rate", stop)
        strokes = page.locator(".chart .loss-line").get_attribute("d").split("M")[1:]
        for stroke in strokes:
            heights = [float(point.split()[1]) for point in stroke.split("L")]
            assert not any(min(pair) > edge or max(pair) < top for pair in pairwise(heights))
        ends.append(float(strokes[-1].split("L")[-1].split()[1]))
    assert max(ends) > edge and min(ends) < top  # it does leave the picture
    page.evaluate(NOTE_TEXTS)
    drag(page, "learning rate", 39)
    drag(page, "learning rate", 40)
    texts = page.evaluate("texts")
    assert (
        texts[surface_words.view["outside"]] - texts[words.view["y_axis"]] > 11
    )  # none stands on the other


def letters_are_walked_through_and_chosen(page, window):
    assert "z = 0 ×" in page.locator(".sums").inner_text()
    page.get_by_role("button", name="one step on").click()
    page.locator("canvas.plane").press("ArrowRight")  # y, then z
    wait_link(page, "letter=25")
    window.settle()
    assert page.locator(".sums p").nth(1).inner_text().startswith("z:")
    page.get_by_role("button", name="batch", exact=True).click()
    page.wait_for_function("() => !location.href.includes('ltr_who')")
    window.settle()
    assert "letters are on the right side" in page.locator(".sums").inner_text()


def what_a_node_tells_never_makes_a_narrower_window_too_wide(page):
    """The graph is drawn anew for the new width, and a node that goes need not say that the pointer
    has left it: a busy browser draws before it looks where the pointer is."""
    card = page.locator("*:has(> .field g.node) > .card")  # other pictures have their own

    def opens(name):  # the wide graph may be drawn once more, which closes the card
        page.locator(f"g.node[data-node={name}]").dispatch_event("pointerenter")
        return card.is_visible()

    for name, left_open in (("z", False), ("X", True), ("loss", True)):
        until(page, lambda name=name: opens(name))
        try:
            page.set_viewport_size({"width": 390, "height": 900})
            page.wait_for_function(NARROW)
            frames(page)
            assert card.is_hidden()
            if left_open:  # not even then
                card.evaluate("card => (card.hidden = false)")
            assert page.evaluate(TOO_WIDE) <= 1, name
        finally:
            page.set_viewport_size({"width": 1440, "height": 900})
        page.wait_for_function(f"() => !({NARROW})()")


def test_a_node_opens_its_matrices_beside_autograd_and_a_nudge_follows_the_hand(lesson, window):
    page = lesson("part=backprop&wmat=W1&wrow=0&wcol=0", "g.node")
    what_a_node_tells_never_makes_a_narrower_window_too_wide(page)
    page.locator("g.node[data-node=W2]").click()
    wait_link(page, "walk=")
    window.settle()
    labels = page.locator(".matrix .label").all_inner_texts()
    assert labels[:4] == ["hᵀ", "∂f", "∂W2", "∂W2"]  # then the step, and the variant
    result = page.locator(".matrix canvas.heat").nth(2)
    result.focus()
    result.press("ArrowRight")
    wanted = autograd(example(), TARGET)["W2"][0, 0].item()
    told = page.locator(".detail .sum").first.inner_text()
    assert number(told.split("=")[-1].strip()) == pytest.approx(wanted, abs=6e-5)
    assert told.count("×") == 1
    page.get_by_role("radio", name="Nudge a weight").click()
    page.locator("input[aria-label='the weight']").wait_for()
    window.settle()
    a_nudge_follows_the_hand(page, window)


def a_nudge_follows_the_hand(page, window):
    slope = autograd(example(), TARGET)["W1"][0, 0].item()
    drag(page, "the weight", 80)
    line = page.locator("p.line").inner_text()
    assert f"{slope:.4f}".replace("-", "−") in line and "δ = 2.0000" in line
    let_go(page, "the weight")
    wait_link(page, "moved=80")
    window.settle()
    assert page.locator("p.line").inner_text() == line


def test_a_cell_of_one_step_opens_and_stays_in_the_link(lesson, window):
    page = lesson("part=step&text=The+cat+sat+on+the+mat", ".matrix canvas.heat")
    flat = page.locator(".matrix", has=page.locator(".label", has_text="logits, flattened"))
    flat.locator("canvas.heat").focus()
    flat.locator("canvas.heat").press("ArrowRight")
    assert "row 0 of logits, row 1" in page.locator(".detail .sum").first.inner_text()
    flat.locator("canvas.heat").press("Enter")
    wait_link(page, "forward_cell=flat")
    window.assert_clean()


def test_the_loss_opens_to_the_models_numbers(lesson):
    page = lesson("part=loss", ".matrix canvas.heat")
    loss = page.locator(".matrix", has=page.locator(".label", has_text="loss")).last
    heat = loss.locator("canvas.heat")
    heat.focus()
    heat.press("ArrowRight")
    assert "÷" in page.locator(".detail .sum").inner_text()


def test_runs_that_go_wrong_are_trained_here(lesson, window):
    page = lesson("part=overfitting&failing=shift", "[data-testid=stButton] button")
    page.get_by_role("button", name="Train 2 runs here").click()
    page.get_by_text("These are your own runs").wait_for()
    page.get_by_role("button", name="Show the bundled runs").wait_for()
    # Once both are done nothing is asked for any more, and the last points stand there.
    expect(page.get_by_text("300", exact=True).nth(1)).to_be_visible()
    page.get_by_role("button", name="Show the bundled runs").click()
    page.get_by_text("Each was made by its command").wait_for()
    window.settle()


def test_a_chart_changes_its_unit_axis_and_mean_by_itself(lesson):
    page = lesson("part=curves&runs=names-gru,names-bigram", ".values td.train")
    curve = CurveFile(Path("data/checkpoints/names-gru")).read()
    known = charted_runs.references_of(charted_runs.read("names-gru"))
    cells = {name: page.locator(f".values tr.main td.{name}") for name in ("train", "validation")}

    def reads(unit: str, mean: float) -> None:
        each = {"train": smooth(curve.train, mean)[-1], "validation": curve.last_validation}
        for name, loss in each.items():
            value = float(in_unit(loss, unit, known[0].tokens_per_byte))
            expect(cells[name]).to_have_text(f"{value:.3f}")
        # A mean is called one above its column, too.
        head = "training, mean" if mean else "training"
        expect(page.locator(".values th.train")).to_have_text(head)

    reads("nats", 0.8)
    drag(page, "Smoothing", 0)
    reads("nats", 0.0)
    drag(page, "Smoothing", 2)
    page.locator("input[value=perplexity]").check(force=True)
    reads("perplexity", 0.8)
    page.locator("input[value=bits]").check(force=True)
    reads("bits", 0.8)
    wait_link(page, "unit=bits")
    drag(page, "Smoothing", 4)  # none, 0.5, 0.8, 0.9, 0.95
    reads("bits", 0.95)  # while the hand is still on it
    let_go(page, "Smoothing")
    wait_link(page, "mean=0.95")
    page.locator("input[value=tokens]").check(force=True)
    wait_link(page, "axis=tokens")
    reads("bits", 0.95)  # the page's answers change nothing of it


def test_the_film_of_a_run_follows_the_scrubber_and_its_head_is_in_the_link(lesson, window):
    page = lesson("part=runs&run=names-gpt", ".when")
    when, texts = page.locator(".when"), page.locator(".texts li")
    expect(when).to_contain_text("6,000")
    last = texts.all_inner_texts()
    page.get_by_role("slider", name="step").first.press("Home")
    expect(when).to_contain_text("step 20,")
    wait_link(page, "at=20")
    page.get_by_role("button", name="before the first step").click()
    expect(when).to_contain_text("step 0,")
    assert texts.all_inner_texts() != last and len(last) == 5
    page.locator(".heads .head", has_text="1.2").click()
    wait_link(page, "film_head=6")
    expect(page.locator(".said")).to_contain_text("Head 1.2")
    page.locator(".letter").nth(2).click()
    expect(page.locator(".letter.asks")).to_have_text("a")
    wait_link(page, "film_asking=2")
    window.assert_clean()


def test_a_paragraph_is_learned_and_its_guess_is_answered(window):
    window.open("training?part=teach")
    page = window.page
    page.get_by_role("button", name="Start").click()
    plot = page.locator("canvas.plot.open")
    plot.focus()
    for key in ("ArrowDown", "ArrowRight", "ArrowDown"):
        page.keyboard.press(key)
    page.get_by_role("button", name="That is my guess").click()
    expect(page.get_by_text("What is easy is learned first: which letters")).to_be_visible()
    expect(page.locator(".lv-ask")).to_have_count(1)
    window.assert_clean()
