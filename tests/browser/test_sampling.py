"""The lesson on sampling under a hand: sliders, draws, writing, ways, links."""

from __future__ import annotations

import re

import numpy as np
import pytest
import torch
from playwright.sync_api import expect

from llmviz.course.lessons.sampling.temperature import words
from llmviz.models import GPT
from llmviz.sampling import nucleus_size, sampling_steps
from llmviz.training.run_folder import load_trained
from tests.browser.hand import FRAMES, drag, let_go, until

PAGE = "sampling"
PROMPT = "Mila found a ball"
QUERY = f"show=1&everystep=1&prompt={PROMPT.replace(' ', '+')}&"  # with what questions cover


@pytest.fixture(scope="module")
def logits(small_models) -> np.ndarray:
    """What the model of these tests says behind the prompt."""
    trained = load_trained(small_models / "tiny-world-gpt")
    assert isinstance(trained.model, GPT)
    tokenizer = trained.tokenizer
    ids = [tokenizer.special_tokens["<|endoftext|>"], *tokenizer.encode(PROMPT)]
    with torch.inference_mode():
        return trained.model(torch.tensor([ids]))[0][0, -1].double().numpy()


@pytest.fixture(scope="module")
def address(small_url):
    return small_url


def stop_of(page, name: str, text: str) -> int:
    """Move a slider to the stop that it writes as `text`, and return its number."""
    stop = page.locator(f"input[aria-label='{name}']").evaluate(
        "async (range, text) => { for (let at = 0; at <= +range.max; at++) {"
        f"  range.value = at; range.dispatchEvent(new Event('input')); {FRAMES}"
        "  if (range.getAttribute('aria-valuetext') === text) return at; }"
        " return -1; }",
        text,
    )
    assert stop >= 0, f"{name} has no stop {text}"
    return stop


def effect(page, column: str) -> str:
    return page.locator(f".head[data-column={column}] .effect").inner_text()


def last_column(page) -> list[str]:
    """The percentages of the distribution that is drawn from, without the line of the others."""
    columns = page.locator(".head").count()
    return page.locator(f".cell[data-at$=',{columns - 1}'] .share").all_inner_texts()


def number(text: str) -> float:
    return float(text.replace("<", "").replace("%", "").strip() or 0)


def test_bars_follow_each_slider_a_link_restores_the_draw_and_a_click_forbids_or_moves(
    lesson, window, logits
):
    page = lesson("draw=6&seed=11", ".grid .slide")
    bars_follow_each_slider(page, logits)
    shown_and_hidden_are_one_and_a_link_restores_the_draw(page, window)
    a_token_is_forbidden_and_a_step_moved_by_a_click(page, window)


def bars_follow_each_slider(page, logits):
    address = page.url
    cases = {
        "temperature": ("temperature", "0.5", {"temperature": 0.5}),
        "top-k": ("top_k", "10", {"top_k": 10}),
        "top-p": ("top_p", "0.8", {"top_p": 0.8}),
        "min-p": ("min_p", "0.1", {"min_p": 0.1}),
    }
    for title, (column, text, settings) in cases.items():
        stop = stop_of(page, title, text)
        drag(page, title, stop)
        steps = sampling_steps(logits, **settings)
        expected = 100 * steps.probabilities[steps.top(18)]
        shown = [number(share) for share in last_column(page) if share not in ("cut", "")]
        assert np.allclose(shown, expected[expected > 0], atol=0.06), title
        cut = logits.size - int(steps.kept.sum())
        assert (f"cuts {cut:,}" in effect(page, column)) == (cut > 0)
    assert page.url == address  # nothing was let go
    size = nucleus_size(sampling_steps(logits).model_probabilities, 0.8)
    drag(page, "top-p", stop_of(page, "top-p", "0.8"))
    assert f"cuts {logits.size - size:,}," in effect(page, "top_p")


def shown_and_hidden_are_one_and_a_link_restores_the_draw(page, window):
    for stop in (0, 5, 12, 25):
        drag(page, "temperature", stop)
        bars = sum(number(share) for share in last_column(page))
        tail = number(page.locator(".cell.tail .share").last.inner_text())
        assert bars + tail == pytest.approx(100, abs=0.3)
    drawn_from = re.findall(r"\((?:< )?([\d.]+) %\)", page.locator(".foot").inner_text())
    assert sum(map(float, drawn_from)) == pytest.approx(100, abs=0.2) and len(drawn_from) == 2
    drag(page, "temperature", stop_of(page, "temperature", "0.5"))
    let_go(page, "temperature")
    page.wait_for_function("() => location.href.includes('temperature=0.5')")
    window.settle()
    said = page.locator(".said").inner_text()
    page.get_by_role("button", name="Draw again").click()
    page.wait_for_function("() => location.href.includes('draw=7')")
    window.settle()
    assert page.locator(".said").inner_text() != said
    address = page.url.replace("draw=7", "draw=6")
    page.goto("about:blank")
    page.goto(address)
    page.wait_for_selector(".said .num")
    window.settle()
    assert page.locator(".said").inner_text() == said


def a_token_is_forbidden_and_a_step_moved_by_a_click(page, window):
    first = page.locator(".label[data-id]").first
    token = first.get_attribute("data-id")
    first.click()
    page.wait_for_function("id => location.href.includes('ban=' + id)", arg=token)
    window.settle()
    assert page.locator(".head[data-column=banned]").count() == 1
    assert page.locator(".label.off").get_attribute("data-id") == token
    page.locator("button[title='move top-p one place to the left']").click()
    page.wait_for_function("() => /top_p.*top_k/.test(location.href)")
    window.settle()
    shown = page.locator(".head").evaluate_all("all => all.map((one) => one.dataset.column)")
    assert shown.index("top_p") < shown.index("top_k")


def test_refusal_shows_while_the_slider_is_there(lesson, logits):
    order = "repetition_penalty,temperature,top_k,top_p,min_p,banned"
    page = lesson(f"order={order}&ban={logits.argmax()}", ".grid .slide")
    drag(page, "top-k", 0)
    assert "no token is left to draw" in page.locator(".refusal").inner_text()
    drag(page, "top-k", 5)
    assert page.locator(".refusal").inner_text() == ""


def test_dice_fall_and_add_up(lesson, window):
    page = lesson("part=dice", ".rows .row")
    for name, total in (("Throw", 6), ("100 more", 106), ("10,000 more", 10_106)):
        page.get_by_role("button", name=name, exact=True).click()
        page.wait_for_function("n => location.href.includes('draw=' + n)", arg=total)
        window.settle()
        counts = page.locator(".row[data-count]").evaluate_all(
            "all => all.map(r => +r.dataset.count)"
        )
        assert sum(counts) == total
    assert page.locator(".tick").count() == 200


def test_text_is_written_stopped_and_sent_another_way(lesson, window):
    page = lesson("part=writing&written=0", ".press.strong")
    written = page.locator("[class*='st-key-lv-stage-writing']")  # below it stand the lanes
    one = written.get_by_role("button", name="One token")
    one.click()
    one.click()
    page.wait_for_function("() => location.href.includes('written=2')")
    assert written.locator(".tok").count() == 2
    run = written.locator(".press.strong")
    run.click()
    expect(written.locator(".tok").nth(6)).to_be_visible()
    if run.inner_text() == "Stop":
        run.click()
    expect(run).not_to_have_text("Stop")
    window.settle()  # the token that was on its way when it was stopped
    n = written.locator(".tok").count()
    page.wait_for_function("n => location.href.includes('written=' + n)", arg=n)
    window.settle()
    assert written.locator(".tok").count() == n
    written.locator(".tok[data-at='3']").hover()
    assert "entropy" in written.locator(".card").inner_text()
    written.locator(".tok[data-at='3']").click()
    choice = written.locator(".choice:not(.here)").nth(1)
    token = choice.get_attribute("data-id")
    before = written.locator(".tok").all_inner_texts()[:3]
    choice.click()
    page.wait_for_function("t => location.href.includes('.' + t + '.')", arg=token)
    window.settle()
    assert written.locator(".tok").all_inner_texts()[:3] == before
    assert written.locator(".tok.chosen").count() == 1
    address, text = page.url, written.locator(".text").inner_text()
    written.locator(".way").first.click()
    page.wait_for_function("() => !/[?&]way=1/.test(location.href)")
    window.settle()
    assert written.locator(".tok").count() == n
    page.goto("about:blank")
    page.goto(address)
    page.wait_for_selector(".tok.chosen")
    window.settle()
    assert written.locator(".text").inner_text() == text


def test_the_temperature_beside_a_text_writes_it_anew(lesson):
    page = lesson(f"part=writing&{QUERY}written=20&seed=4", ".text")
    text = page.locator(".text").first
    before = text.inner_text()
    page.get_by_role("button", name="T = 0", exact=True).click()
    expect(text).not_to_have_text(before)
    greedy = text.inner_text()
    page.goto(page.url)
    expect(page.locator(".text").first).to_have_text(greedy)


def test_temperature_runs_from_greedy_to_uniform(lesson):
    page = lesson("part=temperature&show=1", ".table .probability")
    drag(page, "temperature", 0)
    assert number(page.locator(".probability span").first.inner_text()) == 100
    said = words.caption["zero"].format(token="\n").split("\n")[0]  # what stands before the token
    assert said.strip() in page.locator(".line.num").inner_text()
    last = int(page.locator("input[aria-label=temperature]").get_attribute("max"))
    drag(page, "temperature", last)
    shares = {number(text) for text in page.locator(".probability span").all_inner_texts()}
    assert len(shares) == 1
    assert page.locator(".value").inner_text() == "∞"


WIDTHS = "(nodes) => nodes.map((node) => node.getBoundingClientRect().width)"


def test_the_bars_of_the_dice_are_parts_of_one_whole(lesson):
    """The longest may fill its track; the last one, of all others, has no scale of its own."""
    page = lesson("part=dice&draw=1000", ".rows .row")
    page.locator(".row.rest .bar").wait_for(state="attached")
    widths = page.locator(".row[data-count] .bar").evaluate_all(WIDTHS)
    counts = page.locator(".row[data-count]").evaluate_all("all => all.map(r => +r.dataset.count)")
    whole = sum(widths)
    assert counts[-1] and [width / whole for width in widths] == pytest.approx(
        [count / sum(counts) for count in counts], abs=0.01
    )


def test_beam_is_stepped_and_keeps_its_width(lesson):
    page = lesson("part=beam&width=3&letters=3", ".node")
    page.get_by_role("button", name="one step back").click()
    until(page, lambda: page.locator(".node.later").count() > 0)
    assert page.locator(".node.best").count() == 0
    page.get_by_role("button", name="one step on").click()
    until(page, lambda: page.locator(".node.best").count() == 4)  # the prompt, a token a step
    assert page.locator(".node .final").count() == 3
