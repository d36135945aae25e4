"""The hour taken by hand: how far Next stands behind the answer, and what is at its end."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from llmviz.course.lessons import ways
from llmviz.course.lessons.home import words as home
from llmviz.course.ui import course
from llmviz.course.ui.guess_drawn import words

STOPS = course.stops(ways.HOUR)
NEAR = 1.5  # screens from an answer to the button that leads on
LEARNED = 60_000  # milliseconds that a paragraph may take beside other tests
# What the hour begins with for whoever types nothing; here no real model is.
SENTENCE = ways.SENTENCES[1]
PLACES = """([answer, next]) => {
    const main = document.querySelector("[data-testid=stMain]");
    const [from, to] = [answer, next].map((one) => one.getBoundingClientRect());
    const wide = main.scrollWidth > main.clientWidth + 1;
    return { away: (to.bottom - from.top) / innerHeight, wide };
}"""


def answer(page):
    """Answer a stop's question: by Start and the hand, or by asking to see it."""
    start = page.get_by_role("button", name="Start", exact=True)
    if start.count():
        start.click()
        page.get_by_text("After 300 steps").wait_for(timeout=LEARNED)
    page.get_by_role("button", name=words.show).click()
    box = page.locator("[class*='st-key-lv-guess-']").first
    expect(box.get_by_text("Right:")).to_be_visible()
    return box


@pytest.fixture(params=[(1440, 900, False), (390, 844, True)], ids=["mouse", "touch"])
def taken(request, visit):
    """A page at the beginning of the hour, and how a button is pressed there."""
    wide, tall, touch = request.param
    context = visit.page.context.browser.new_context(
        viewport={"width": wide, "height": tall}, has_touch=touch, reduced_motion="reduce"
    )
    page = context.new_page()
    page.goto(visit.url)
    page.wait_for_selector("h1")

    def press(button) -> None:
        button.scroll_into_view_if_needed()
        button.tap() if touch else button.click()

    yield page, press
    context.close()


def test_the_hour_is_taken_with_next_beside_each_answer_and_ends_where_it_began(taken):
    page, press = taken
    press(page.get_by_role("button", name=home.start))
    for number, stop in enumerate(STOPS, 1):
        page.wait_for_url(f"**/{stop.lesson}?*part={stop.chapter}*")
        page.get_by_text(f"stop {number} of {len(STOPS)}").wait_for()
        box = answer(page)
        onward = page.get_by_role("button", name="Next: " if number < len(STOPS) else "The end")
        expect(onward).to_have_count(1)
        at = page.evaluate(PLACES, [box.element_handle(), onward.element_handle()])
        assert at["away"] <= NEAR, (stop, at)
        assert not at["wide"], stop
        assert not page.locator("[data-testid=stException]").count()
        if stop.lesson in ("tokenization", "attention", "sampling"):
            text = page.get_by_label("Prompt" if stop.lesson == "sampling" else "Your text")
            if not text.first.is_visible():
                press(page.get_by_text("Your text and model"))
            expect(text.first).to_have_value(SENTENCE)
        press(onward)
    page.wait_for_url("**end=1*")
    lines = page.locator(".row .right")
    expect(lines.first).to_be_visible()
    assert lines.count() >= len(STOPS) - 1  # with some sentences a stop has nothing to ask
    expect(page.get_by_role("button", name=home.ten)).to_be_visible()
    kept = lines.all_inner_texts()
    page.reload()
    expect(lines).to_have_text(kept)
    page.context.clear_cookies()  # by which this server knows the browser: as on another server
    page.reload()
    expect(lines).to_have_text(kept)


def test_more_of_a_stop_is_one_press_away_and_stays_after_a_reload(visit):
    visit.open("sampling?part=temperature&course=hour")
    page = visit.page
    page.get_by_role("button", name="More about this").click()
    page.wait_for_url("**more=temperature*")
    head = page.get_by_role("heading", name="The arithmetic of one token")
    expect(head).to_be_visible()
    page.reload()
    expect(head).to_be_visible()
    visit.assert_clean()


def test_the_text_of_a_look_is_not_taken_along_on_the_hour(taken):
    page, press = taken
    press(page.get_by_role("button", name=home.start))
    page.wait_for_url("**/tokenization?*part=cut*")
    page.get_by_text("stop 1 of").wait_for()
    answer(page)
    page.get_by_role("button", name="Shout it").click()
    page.wait_for_function("text => decodeURIComponent(location.search).includes(text)", arg="ANNA")
    press(page.get_by_role("button", name="Next:"))
    page.wait_for_function("() => location.pathname.includes('embeddings')")
    page.wait_for_function("() => location.search.includes('text=It+was')")
